package space_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// liar is a Host that answers with what it is told to.
type liar struct {
	host
	entry wip.Entry
	tree  wip.Tree
	panic bool
	err   error
}

func (l *liar) Fetch(context.Context, wip.Caller, string) (wip.Entry, error) {
	if l.panic {
		panic("secret")
	}
	return l.entry, nil
}

func (l *liar) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	if l.panic {
		panic("secret")
	}
	return l.tree, l.err
}

func branch(e wip.Entry, children ...wip.Tree) wip.Tree {
	return wip.Tree{Entry: e, Children: children}
}

// TestLyingTrees gives trees that break a rule: what breaks it is not there,
// what is sound is, and the operator learns of which mount it was.
func TestLyingTrees(t *testing.T) {
	lamp := func(path string) wip.Entry { return object(path, "Lamp", "lamp.wip", "Lamp") }
	leaf := func(path string) wip.Tree { return branch(lamp(path)) }
	deep := leaf("/" + strings.Repeat("d/", 40) + "d")
	for _, test := range []struct {
		name  string
		tree  wip.Tree
		want  []string
		fault string
	}{
		{"sound", branch(folder("/", ""), leaf("/a"), leaf("/b c")), []string{"/m/a", "/m/b c"}, ""},
		{"another root", branch(lamp("/a"), leaf("/a/b")), nil, "not the entry that was asked for"},
		{"no root", branch(lamp("")), nil, "not absolute"},
		{"up and away", branch(folder("/", ""), leaf("/../grid"), leaf("/a")), []string{"/m/a"}, "segment of dots"},
		{"dot", branch(folder("/", ""), leaf("/./a")), nil, "segment of dots"},
		{"empty segment", branch(folder("/", ""), leaf("//a"), leaf("/a/")), nil, "empty segment"},
		{"relative", branch(folder("/", ""), leaf("a")), nil, "not absolute"},
		{"control character", branch(folder("/", ""), leaf("/a\nb")), nil, "not allowed"},
		{"invisible character", branch(folder("/", ""), leaf("/a\u200bb")), nil, "not allowed"},
		{"direction", branch(folder("/", ""), leaf("/a\u202eb")), nil, "not allowed"},
		{"operation mark", branch(folder("/", ""), leaf("/a#close")), nil, "not allowed"},
		{"not UTF-8", branch(folder("/", ""), leaf("/a\xff")), nil, "not UTF-8"},
		{"address", branch(folder("/", ""), leaf("/www.evil.example.com")), nil, "cleaning"},
		{"twice", branch(folder("/", ""), leaf("/a"), branch(lamp("/b"), leaf("/b/c")), branch(lamp("/b"), leaf("/b/d"))), []string{"/m/a", "/m/b", "/m/b/c"}, "same path"},
		{"under another", branch(folder("/", ""), branch(lamp("/a"), leaf("/b"))), []string{"/m/a"}, "does not lie below"},
		{"under itself", branch(folder("/", ""), branch(lamp("/a"), leaf("/a"))), []string{"/m/a"}, "does not lie below"},
		{"beside by name", branch(folder("/", ""), branch(lamp("/a"), leaf("/ab"))), []string{"/m/a"}, "does not lie below"},
		{"deep", branch(folder("/", ""), deep, leaf("/a")), []string{"/m/a"}, "32 segments"},
		{"long", branch(folder("/", ""), leaf("/"+strings.Repeat("x", 129)), leaf(strings.Repeat("/"+strings.Repeat("x", 99), 11))), nil, "longer than"},
		{"Object without identity", branch(folder("/", ""), branch(wip.Entry{Path: "/a", Indexable: true, Object: &wip.Object{}})), nil, "identifier"},
		{"long identity", branch(folder("/", ""), branch(wip.Entry{Path: "/a", Indexable: true, Object: &wip.Object{ID: strings.Repeat("x", 257)}})), nil, "identifier"},
		{"no document", branch(folder("/", ""), branch(object("/a", "", "none.wip", "Lamp"))), nil, "does not have an IDL document"},
		{"no interface", branch(folder("/", ""), branch(object("/a", "", "lamp.wip", "Lamp", "Lump"))), []string{"/m/a"}, "does not declare"},
		{"bad document", branch(folder("/", ""), branch(object("/a", "", "bad.wip", "Bad")), leaf("/b")), []string{"/m/b"}, "does not compile"},
		{"huge document", branch(folder("/", ""), branch(object("/a", "", "huge.wip", "Lamp"))), nil, "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &liar{tree: test.tree}
			l.documents = map[string]string{
				"lamp.wip": lampDocument, "bad.wip": "package p; interface Bad { nothing }",
				"huge.wip": lampDocument + strings.Repeat("// more\n", 64<<10),
			}
			s := space.New(nil)
			mount(t, s, "/m", l, nil)
			mount(t, s, "/grid", lampHost(), nil)
			err := s.Refresh(t.Context(), wip.Caller{}, "/m")
			if diff := cmp.Diff(test.want, discoverable(s)); diff != "" {
				t.Error(diff)
			}
			var e *space.Error
			switch {
			case test.fault == "":
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &e) || e.Mount != "/m" || !strings.Contains(err.Error(), test.fault):
				t.Errorf("Refresh = %v, expected an error of the mount /m with %q", err, test.fault)
			}
		})
	}
}

// TestManyProblems checks that a Host cannot fill the operator's log.
func TestManyProblems(t *testing.T) {
	root := branch(folder("/", ""))
	for i := range 3000 {
		root.Children = append(root.Children, branch(folder("//", "")), branch(object(fmt.Sprintf("/%d", i), "", fmt.Sprintf("%d.wip", i), "X")))
	}
	l := &liar{tree: root}
	s := space.New(nil)
	mount(t, s, "/m", l, nil)
	err := s.Refresh(t.Context(), wip.Caller{}, "/m")
	if err == nil || len(err.Error()) > 4096 {
		t.Errorf("Refresh reported %d bytes, expected some but no more than 4096", len(fmt.Sprint(err)))
	}
}

func TestLyingFetch(t *testing.T) {
	for _, entry := range []wip.Entry{folder("/b", ""), folder("", ""), folder("/a/", ""), folder("/../m/a", "")} {
		s := space.New(nil)
		mount(t, s, "/m", &liar{entry: entry}, nil)
		_, err := s.Resolve(t.Context(), wip.Caller{}, "/m/a")
		var e *space.Error
		if !errors.As(err, &e) || e.Mount != "/m" {
			t.Errorf("Resolve with the answer %q = %v, expected an error of the mount", entry.Path, err)
		}
	}
}

func TestPanickingHost(t *testing.T) {
	s := space.New(nil)
	mount(t, s, "/m", &liar{panic: true}, nil)
	_, resolved := s.Resolve(t.Context(), wip.Caller{}, "/m/a")
	_, learned := s.Learn(t.Context(), wip.Caller{}, []string{"/m/a"})
	for _, err := range []error{resolved, learned, s.Refresh(t.Context(), wip.Caller{}, "/")} {
		if err == nil || !strings.Contains(err.Error(), "mount /m") || strings.Contains(err.Error(), "secret") {
			t.Errorf("a panic became %v, expected an error that names the mount and does not quote", err)
		}
	}
}

func TestTextsAreCleaned(t *testing.T) {
	e := object("/a", "A\u202elamp\u200b from www.evil.example.com "+strings.Repeat("ä", 300), "lamp.wip", "Lamp")
	e.Summary = "First.\nSecond. " + strings.Repeat("x ", 5000)
	s := lampSpace(t, lampHost(e), nil)
	n, err := s.Resolve(t.Context(), wip.Caller{}, "/house/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{n.Title, n.Summary} {
		if strings.ContainsAny(text, "\u202e\u200b\n") || strings.Contains(text, "evil.example.com") || !utf8.ValidString(text) {
			t.Errorf("%q is not clean", text)
		}
	}
	if len(n.Title) > 128 || len(n.Summary) > 512 {
		t.Errorf("the title has %d bytes and the summary %d, expected no more than 128 and 512", len(n.Title), len(n.Summary))
	}
}

// TestBoundedTree checks that a tree beyond the bounds loses its deepest
// entries, and that several callers' trees do not add up beyond them.
func TestBoundedTree(t *testing.T) {
	var entries []wip.Entry
	for i := range 30 {
		entries = append(entries, object(fmt.Sprintf("/x%02d", i), "", "lamp.wip", "Lamp"), object(fmt.Sprintf("/x%02d/deep", i), "", "lamp.wip", "Lamp"))
	}
	for _, cfg := range []*space.Config{{MaxEntries: 32}, {MaxOperations: 64}} {
		h := newHost(map[string]string{"lamp.wip": lampDocument}, append(entries, folder("/", ""))...)
		s := space.New(cfg)
		mount(t, s, "/m", h, nil)
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err == nil || !strings.Contains(err.Error(), "the rest is left out") {
			t.Errorf("Refresh = %v, expected it to say that the tree is cut", err)
		}
		found := discoverable(s)
		if len(found) < 30 || len(found) > 32 || !strings.HasSuffix(strings.Join(found, " "), "/m/x29") {
			t.Errorf("%d entries are left: %q", len(found), found)
		}
		h.change(func() {
			for i := range 30 {
				p := fmt.Sprintf("/y%02d", i)
				h.entries[p] = object(p, "", "lamp.wip", "Lamp")
			}
			h.seen = func(_ wip.Caller, path string) bool { return path == "/" || path[1] == 'y' }
		})
		if err := s.Refresh(t.Context(), wip.Caller{ID: "other"}, "/"); err != nil {
			t.Error(err)
		}
		found = discoverable(s)
		if len(found) > 32 || !strings.Contains(strings.Join(found, " "), "/m/y29") {
			t.Errorf("after another caller's tree %d entries are left: %q", len(found), found)
		}
	}
}

func TestDocuments(t *testing.T) {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	pinned := func(path, digest string) wip.Entry {
		e := object(path, "", "lamp.wip", "Lamp")
		e.Object.Interfaces[0].SHA256 = digest
		return e
	}
	const importing = "package p; import \"base.wip\"; interface I { op(x: Color) -> Color; }"
	h := lampHost(pinned("/right", sum(lampDocument)), pinned("/wrong", sum("else")), object("/i", "", "i.wip", "I"))
	h.documents["i.wip"], h.documents["base.wip"] = importing, "package q; enum Color { red }"
	s := space.New(nil)
	mount(t, s, "/house", h, nil)
	mount(t, s, "/copy", h, nil)
	if err := s.Refresh(t.Context(), wip.Caller{}, "/house"); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("Refresh = %v, expected a wrong digest", err)
	}
	_ = s.Refresh(t.Context(), wip.Caller{}, "/copy") // the same
	resolve := func(path string) *space.Node {
		t.Helper()
		n, err := s.Resolve(t.Context(), wip.Caller{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := resolve("/house/wrong"); len(n.Interfaces) != 0 || len(n.Problems) != 1 {
		t.Errorf("with a wrong digest there are %d interfaces and %d problems", len(n.Interfaces), len(n.Problems))
	}
	if len(resolve("/house/right").Interfaces) != 1 {
		t.Error("with the right digest the interface is missing")
	}
	before := resolve("/house/i").Interfaces[0]
	if resolve("/copy/i").Interfaces[0] != before {
		t.Error("one text was compiled twice")
	}
	// A changed import changes what depends on it and nothing else.
	h.change(func() { h.documents["base.wip"] = "package q; enum Color { red, green }" })
	lamp := resolve("/house/hall/lamp").Interfaces[0]
	_ = s.Refresh(t.Context(), wip.Caller{}, "/house")
	if i := resolve("/house/i").Interfaces[0]; i == before || len(i.Operations[0].Result.Enum.Labels) != 2 {
		t.Error("an import changed and the document did not")
	}
	if resolve("/house/hall/lamp").Interfaces[0] != lamp {
		t.Error("an unchanged document was compiled again")
	}
}

// TestPassingTrouble checks that a document that cannot be had just now costs
// nothing that is known already.
func TestPassingTrouble(t *testing.T) {
	h := &failingDocuments{host: lampHost()}
	s := space.New(nil)
	mount(t, s, "/house", h, nil)
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	h.err = &wip.Failure{Class: wip.Transient, Message: "busy"}
	h.entries["/porch"] = object("/porch", "", "lamp.wip", "Lamp")
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); !errors.Is(err, h.err) {
		t.Errorf("Refresh = %v, expected %v", err, h.err)
	}
	if _, err := s.Resolve(t.Context(), wip.Caller{}, "/house/porch"); !errors.Is(err, h.err) {
		t.Errorf("Resolve = %v, expected %v", err, h.err)
	}
	if diff := cmp.Diff([]string{"/house/hall/lamp"}, discoverable(s)); diff != "" {
		t.Error(diff)
	}
	h.err = nil
	if n, err := s.Resolve(t.Context(), wip.Caller{}, "/house/porch"); err != nil || len(n.Interfaces) != 1 {
		t.Errorf("Resolve = %+v, %v: the trouble was remembered", n, err)
	}
}

// failingDocuments serves documents unless err is set.
type failingDocuments struct {
	*host
	err error
}

func (f *failingDocuments) Document(ctx context.Context, name string) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.host.Document(ctx, name)
}
