package adapter_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// stranger is a Host that nobody vouches for: a link stands in every place
// where its document or its entries can hold text.
type stranger struct{}

const strangersDocument = `package door;
version 1;

/// A door, see http://evil.example/interface now.
@audience(public_chat) @read_only
interface Door {
  /// Opens it, see http://evil.example/operation now.
  @alias("open http://evil.example/alias")
  @example(word: "http://evil.example/example")
  @deprecated("use http://evil.example/deprecated now")
  open(
    /// The word, see http://evil.example/parameter now.
    word: string [1..40 bytes] = "http://evil.example/default",
    code: string [matching "(http://evil[.]example/pattern)?"] = "",
    how: How = slowly,
  ) -> Opened;
}

/// See http://evil.example/record now.
record Opened {
  /// See http://evil.example/field now.
  ok: bool;
}

/// See http://evil.example/enum now.
enum How {
  /// See http://evil.example/label now.
  slowly
}
`

func (stranger) Fetch(context.Context, wip.Caller, string) (wip.Entry, error) {
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound}
}

func (stranger) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	door := &wip.Object{ID: "d", Interfaces: []wip.InterfaceRef{{Document: "door.wip", Interface: "Door"}}}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{{Entry: wip.Entry{
		Path: "/door", Title: "http://evil.example/title", Summary: "http://evil.example/summary", Object: door, Indexable: true,
	}}}}, nil
}

func (stranger) Document(context.Context, string) ([]byte, error) {
	return []byte(strangersDocument), nil
}

func (stranger) CallOperation(context.Context, wip.Call) (wip.Result, error) {
	return wip.Result{Value: json.RawMessage(`{"ok":true}`)}, nil
}

// TestStrangersDocumentIsCleaned asks for all that shows the words of a
// document. A Host that is vouched for shows the links, or there would be
// nothing to clean; of a stranger what stood around them is left.
func TestStrangersDocumentIsCleaned(t *testing.T) {
	link := regexp.MustCompile(`http://evil[^/]*/([a-z]+)`)
	ask := func(trusted bool, tool, arguments string) string {
		c := client.New(nil)
		if err := c.Mount(t.Context(), "/street", stranger{}, &client.MountOptions{Trusted: trusted}); err != nil {
			t.Fatal(err)
		}
		answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, tool, "", json.RawMessage(arguments))
		return string(answer.JSON)
	}
	for _, test := range []struct {
		tool, arguments string
		links           string // that a trusted Host shows
		left            string // of a stranger's answer
	}{
		{"inspect", `{"target":"/street"}`, "", `"title":"[link removed]","summary":"[link removed]"`},
		{"inspect", `{"target":"/street/door"}`, "default deprecated enum example field interface label operation parameter pattern record", `"doc":"A door, see [link removed] now."`},
		{"inspect", `{"target":"/street/door#open"}`, "default deprecated enum example field interface label operation parameter pattern record", `"description":"The word, see [link removed] now.`},
		{"discover", `{"query":"open the door"}`, "default deprecated pattern", `word: string [1..40 bytes] = \"[link removed]\"`},
		{"discover", `{"query":"tea"}`, "", `/door: open`},
		{"invoke", `{"target":"/street/door","operation":"open","arguments":{"word":7,"code":"x"}}`, "default pattern", `code: string [matching \"([link removed])?\"]`},
		{"invoke", `{"target":"/street/door","operation":"open","arguments":{"code":null,"nothing":1}}`, "default pattern", `code: string [matching \"([link removed])?\"]`},
	} {
		var links []string
		for _, m := range link.FindAllStringSubmatch(ask(true, test.tool, test.arguments), -1) {
			links = append(links, m[1])
		}
		slices.Sort(links)
		if got := strings.Join(slices.Compact(links), " "); got != test.links {
			t.Errorf("%s %s shows the links %q of a trusted Host, want %q: the test sees too little", test.tool, test.arguments, got, test.links)
		}
		answer := ask(false, test.tool, test.arguments)
		if strings.Contains(answer, "evil") || !strings.Contains(answer, test.left) {
			t.Errorf("%s %s, want no stranger's link and %s:\n%s", test.tool, test.arguments, test.left, answer)
		}
	}
}

// TestStrangersAreMarked: hits, inspections and children of a Host that nobody
// vouches for say so in every form, and those of others do not.
func TestStrangersAreMarked(t *testing.T) {
	c := client.New(nil)
	for path, trusted := range map[string]bool{"/far": false, "/near": true} {
		if err := c.Mount(t.Context(), path, stranger{}, &client.MountOptions{Trusted: trusted}); err != nil {
			t.Fatal(err)
		}
	}
	p := &client.Principal{ID: "p", Audience: idl.LocalOperator}
	a := adapter.New(adapter.Config{Client: c})
	const mark = `"trust":"untrusted_observed_data"`
	for _, test := range []struct {
		verb, record string
		marks        int
	}{
		{"inspect", `{"target":"/far/door"}`, 1},
		{"inspect", `{"target":"/far"}`, 1},
		{"inspect", `{"target":"/near/door"}`, 0},
		{"inspect", `{"target":"/"}`, 1},
		{"discover", `{"query":"door","scope":"/far"}`, 1},
		{"discover", `{"query":"door","scope":"/near"}`, 0},
	} {
		answer, _ := a.Call(t.Context(), p, test.verb, "", json.RawMessage(test.record))
		if got := strings.Count(string(answer.JSON), mark); got != test.marks {
			t.Errorf("%s %s: found %d marks, want %d: %s", test.verb, test.record, got, test.marks, answer.JSON)
		}
	}
}
