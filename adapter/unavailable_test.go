package adapter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// silent is a Host that does not answer.
type silent struct{ wip.Host }

func (silent) Available() bool { return false }

// A mark stands where it tells most: at the entry or, of a folder above, at the
// children that do not answer.
func TestUnavailable(t *testing.T) {
	well, down := &space.Mount{Path: "/a"}, &space.Mount{Path: "/b", Host: silent{}}
	node := func(path string, m *space.Mount) *space.Node { return &space.Node{Path: path, Mount: m} }
	for name, test := range map[string]struct {
		inspection client.Inspection
		itself     bool
		children   []bool
	}{
		"above":  {client.Inspection{Node: node("/", nil), Children: []*space.Node{node("/a", well), node("/b", down)}}, false, []bool{false, true}},
		"itself": {client.Inspection{Node: node("/b", down), Unavailable: true, Children: []*space.Node{node("/b/c", down)}}, true, []bool{false}},
	} {
		d := adapter.Describe(&test.inspection)
		var children []bool
		for _, c := range d.Children {
			children = append(children, c.Unavailable)
		}
		if diff := cmp.Diff(test.children, children); d.Unavailable != test.itself || diff != "" {
			t.Errorf("%s: found %v\n%s", name, d.Unavailable, diff)
		}
	}
}
