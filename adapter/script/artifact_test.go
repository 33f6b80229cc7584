package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/space/wip"
)

// longTracker is a tracker whose lists have no end.
type longTracker struct{ *tracker }

func (longTracker) CallOperation(context.Context, wip.Call) (wip.Result, error) {
	var hits []string
	for i := range 2000 {
		hits = append(hits, fmt.Sprintf(`{"issue":"/one","score":%d,"since":null,"raw":""}`, i))
	}
	return wip.Result{Value: json.RawMessage("[" + strings.Join(hits, ",") + "]")}, nil
}

// TestArtifact reads in parts what is too large for a value.
func TestArtifact(t *testing.T) {
	store, err := artifact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := client.New(&client.Config{Artifacts: store})
	if err := c.Mount(t.Context(), "/issues", longTracker{&tracker{}}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
	err = e.Run(t.Context(), "long", []byte(`
hits, error = attempt(issues.one.search, query={"text": "x", "deep": None})
print(error.kind, error.message)
path = error.hint.split('"')[1]
print(entry(path).select(path="#").json, json.decode(entry(path).select(path="1999").json)["score"])
print(len(entry(path).lines(first=1, count=3).lines))
for m in entry(path).search(query='"score":1999'):
    print(m.context[-30:])
issues.one.search(query={"text": "x", "deep": None})
`))
	want := `domain the result has 116891 bytes, which is too large for a value
2000 1999
3
":1999,"since":null,"raw":""}]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "too large for a value") || !strings.Contains(err.Error(), `entry("/artifacts/`) {
		t.Errorf("found error %v, expected where it can be read", err)
	}
}
