package gen_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/space"
)

// entryAt is an entry with interfaces, of which hidden names the operations that
// may not be known there.
func entryAt(path, mount string, ifaces []*idl.Interface, hidden ...string) gen.Entry {
	e := gen.Entry{Path: path, Mount: mount, Title: "Title of " + path, Summary: "a summary"}
	n := space.Node{Interfaces: ifaces}
	for _, o := range n.Operations(func(o *idl.Operation) bool { return !slices.Contains(hidden, o.Name) }) {
		e.Operations = append(e.Operations, gen.EntryOperation{Name: o.Name, Operation: o.Operation})
	}
	return e
}

func clean(words string) string {
	s, _ := cleantext.Clean(words, 0)
	return s
}

// mountedFiles generates in all languages, each in a folder of its own.
func mountedFiles(m *gen.Mounted) []gen.File {
	var all []gen.File
	for _, f := range gen.PythonMounted(m) {
		all = append(all, gen.File{Name: "python/" + f.Name, Data: f.Data})
	}
	for _, f := range gen.TypeScriptMounted(m) {
		all = append(all, gen.File{Name: "typescript/" + f.Name, Data: f.Data})
	}
	return all
}

// shops mounts the Hosts of an archive.
func shops(t testing.TB, a *txtar.Archive) *gen.Mounted {
	t.Helper()
	host := func(prefix string, names ...string) map[string]*idl.Interface {
		docs, err := idl.Compile(func(name string) ([]byte, error) {
			for _, f := range a.Files {
				if f.Name == prefix+name {
					return f.Data, nil
				}
			}
			return nil, os.ErrNotExist
		}, names...)
		if err != nil {
			t.Fatal(err)
		}
		ifaces := map[string]*idl.Interface{}
		for _, i := range docs[0].Interfaces {
			ifaces[i.Name] = i
		}
		return ifaces
	}
	one, other := host("a/", "shop.wip"), host("b/", "shop.wip")
	stranger := func(path string) gen.Entry {
		e := entryAt(path, "/b", []*idl.Interface{other["Till"]})
		e.Untrusted = true
		return e
	}
	return &gen.Mounted{
		Command: []string{"wipagent", "serve", "--world", "a \"b\\c\nd\u202eé😀"},
		Clean:   clean,
		Entries: []gen.Entry{
			entryAt("/a/refunds", "/a", []*idl.Interface{one["Refund"]}),
			entryAt("/a/refunds/pay", "/a", []*idl.Interface{one["Till"]}, "open_drawer"),
			entryAt("/a/till", "/a", []*idl.Interface{one["Till"], one["Refund"]}, "open_drawer"),
			entryAt("/a/till/refund_pay", "/a", []*idl.Interface{one["Refund"]}, "reasons"),
			stranger("/b"), stranger("/b/2"), stranger("/b/class"), stranger("/b/property"), stranger("/b/pay"), stranger("/b/日本"),
			stranger("/b/a-b"), stranger("/b/a.b"), stranger("/b/a_b"), stranger("/close"), stranger("/world"),
		},
	}
}

const shopsArchive = "testdata/mounted/shops.txtar"

func readArchive(t testing.TB, path string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMountedIsGolden compares what is generated with what the archive holds.
func TestMountedIsGolden(t *testing.T) {
	a := readArchive(t, shopsArchive)
	want, got := map[string]string{}, map[string]string{}
	var sources []txtar.File
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".wip") {
			sources = append(sources, f)
		} else {
			want[f.Name] = string(f.Data)
		}
	}
	for _, f := range mountedFiles(shops(t, a)) {
		if !isRuntime(f.Name) {
			got[f.Name] = string(f.Data)
			sources = append(sources, txtar.File{Name: f.Name, Data: f.Data})
		}
		for _, trace := range []string{"evil", "drawer", "ecret", "Lock", "\u202e", "idl gen"} {
			if isRuntime(f.Name) && trace == "Lock" { // of threads
				continue
			}
			if line, ok := lineWith(f.Data, trace); ok {
				t.Errorf("%s: found %q in %q", f.Name, trace, line)
			}
		}
	}
	if *update {
		a.Files = sources
		if err := os.WriteFile(shopsArchive, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-archive +generated; see -update)\n%s", d)
	}
}

func lineWith(data []byte, text string) (string, bool) {
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, text) {
			return line, true
		}
	}
	return "", false
}

const visitShops = `
from shops.python import Space, mounted, shop, shop_

class Server:
    def request(self, method, params, timeout):
        if method == "initialize":
            return {}
        self.call = params["arguments"]
        return {"structuredContent": {"result": True if "receipt" in self.call["arguments"] else {"number": 1, "coins": [], "amount": {"value": 1, "unit": "eur"}}}}
    def notify(self, method, params):
        pass
    def close(self):
        pass

server = Server()
world = mounted.World(Space(server))

def sent(result):
    return server.call["target"], server.call["operation"]

receipt = world.a.till.pay(coins=["one"])
assert isinstance(receipt, shop.Receipt) and sent(receipt) == ("/a/till", "Till.pay")
assert sent(world.a.till.refund_pay(receipt=receipt)) == ("/a/till", "Refund.pay")
assert server.call["arguments"] == {"receipt": {"number": 1, "coins": []}}, server.call
assert isinstance(world.a.till, shop.Till) and isinstance(world.a.refunds, shop.Refund)
assert sent(shop.Refund(world.space, "/a/till").pay(receipt=receipt)) == ("/a/till", "Refund.pay")
assert sent(world.a.refunds.pay_.pay(coins=[])) == ("/a/refunds/pay", "Till.pay")
assert sent(world.a.till.refund_pay_.pay(receipt=receipt) is True) == ("/a/till/refund_pay", "Refund.pay")
assert isinstance(world.b.pay(amount=None), shop_.Receipt) and "where" not in server.call["arguments"]
for path, entry in {
    "/b": world.b, "/b/2": world.b.x2, "/b/class": world.b.class_, "/b/property": world.b.property_, "/b/pay": world.b.pay_,
    "/b/日本": world.b.u65e5_u672c, "/b/a-b": world.b.a_b, "/b/a.b": world.b.a_b_, "/b/a_b": world.b.a_b_2, "/close": world.close_,
    "/world": world.world,
}.items():
    assert entry.path == path, entry
assert mounted.COMMAND[3] == "a \"b\\c\nd\u202eé😀", mounted.COMMAND
print("done")
`

// TestHiddenLeavesNoTrace takes away what a caller may not know of: what is
// generated is what it would be if that had never been there.
func TestHiddenLeavesNoTrace(t *testing.T) {
	const (
		common = "interface Lamp {\n  /// Lights it.\n  light(how: How = soft) -> Light;\n%s}\nenum How { soft, hard }\nrecord Light { lumen: int; }\n"
		hidden = "  class_(a: Hid1) -> Hid2;\n  at() -> entry;\n"
		more   = "interface Hid3 { hid() -> Hid2; }\nrecord Hid1 { x: int; }\nrecord Hid2 { y: list<HidE>; }\nenum HidE { a }\n"
	)
	generate := func(texts map[string]string) []gen.File {
		docs, err := idl.Compile(func(name string) ([]byte, error) { return []byte(texts[name]), nil }, "lamp.wip")
		if err != nil {
			t.Fatal(err)
		}
		return mountedFiles(&gen.Mounted{Entries: []gen.Entry{entryAt("/lamp", "/lamp", docs[0].Interfaces, "class_", "at", "hid")}})
	}
	want := generate(map[string]string{"lamp.wip": "package lamp;\n" + fmt.Sprintf(common, "")})
	got := generate(map[string]string{
		"lamp.wip":   "package lamp;\nimport \"hidden.wip\";\n" + more + fmt.Sprintf(common, hidden),
		"hidden.wip": "package mounted;\nrecord Never { lamp: int; }\n",
	})
	if d := cmp.Diff(text(want), text(got)); d != "" {
		t.Errorf("(-without it +hidden)\n%s", d)
	}
}

func text(files []gen.File) map[string]string {
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Name] = string(f.Data)
	}
	return texts
}

// TestMountedCompiles has the strictest checks that the machine knows read what
// is generated of the shops, of an Object at the root, of nothing, and of Hosts
// that are made up.
func TestMountedCompiles(t *testing.T) {
	grid := gridDocuments(t)
	root := []gen.Entry{entryAt("/", "/", grid[3].Interfaces), entryAt("/agent", "/", grid[0].Interfaces)}
	fixed := map[string][]gen.File{
		"shops": mountedFiles(shops(t, readArchive(t, shopsArchive))), "nothing": mountedFiles(&gen.Mounted{}),
		"root": mountedFiles(&gen.Mounted{Command: []string{"wipagent", "serve"}, Entries: root}),
	}
	sets := madeUpMounts(t, 12)
	maps.Copy(sets, fixed)
	dir := project(t, sets)
	write(t, dir, gen.File{Name: "visit.py", Data: []byte(visitShops)})
	t.Run("python", func(t *testing.T) {
		checkPython(t, dir)
		if out := run(t, dir, "python3", "-W", "error", "visit.py"); out != "done\n" {
			t.Errorf("found output %s", tail(out))
		}
	})
	t.Run("tsc", func(t *testing.T) { run(t, dir, "tsc", "-p", ".") })
	t.Run("mypy", func(t *testing.T) {
		if os.Getenv("WIPAGENT_MUTATIONS") != "" {
			fixed = sets
		}
		checkMypy(t, dir, fixed)
	})
}

// madeUpMounts generates from Hosts that are made up, with paths that languages
// have a use for.
func madeUpMounts(t *testing.T, want int) map[string][]gen.File {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 11))
	segments := append(slices.Clone(words), "property", "close", "World", "world", "COMMAND", "mounted", "a-b", "a.b", "日本", "1", "'\"", "*/", `"""`, "then")
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	sets := map[string][]gen.File{}
	for tries := 0; len(sets) < want; tries++ {
		if tries > 20*want {
			t.Fatalf("found only %d mounts of %d to have documents that compile", len(sets), tries)
		}
		m := &gen.Mounted{Command: []string{"wipagent"}, Clean: clean}
		taken := map[string]bool{}
		for host := range 2 {
			docs, err := compileTexts((&maker{Rand: random}).archive())
			if err != nil {
				break
			}
			var ifaces []*idl.Interface
			for _, d := range append(docs, docs[0].Imports...) {
				ifaces = append(ifaces, d.Interfaces...)
			}
			mount := fmt.Sprintf("/%s-%d", pick(segments), host)
			for range 1 + random.IntN(12) {
				path := mount
				for range random.IntN(4) {
					path += "/" + pick(segments)
				}
				some := slices.Clone(ifaces[:1+random.IntN(len(ifaces))])
				random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
				e := entryAt(path, mount, some, pick(words), pick(words), pick(words))
				if e.Untrusted = host == 1; len(e.Operations) > 0 && !taken[path] {
					taken[path] = true
					m.Entries = append(m.Entries, e)
				}
			}
		}
		slices.SortStableFunc(m.Entries, func(a, b gen.Entry) int {
			return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
		})
		if len(m.Entries) < 3 {
			continue
		}
		files := mountedFiles(m)
		for i, again := range mountedFiles(m) {
			if !bytes.Equal(files[i].Data, again.Data) {
				t.Errorf("%s differs the second time", again.Name)
			}
		}
		name := fmt.Sprintf("set%03d", len(sets))
		for i, f := range files {
			if f.Name == "typescript/runtime.ts" && name != "set000" { // it is the same for all
				files[i].Data = []byte("export * from \"../../set000/typescript/runtime.js\";\n")
			}
		}
		sets[name] = files
	}
	return sets
}

// TestNumberAny: names are different, free, and begin with what was wanted.
func TestNumberAny(t *testing.T) {
	word := rapid.StringMatching("[ab](_|_[23])?")
	rapid.Check(t, func(t *rapid.T) {
		want, reserved := rapid.SliceOf(word).Draw(t, "want"), rapid.SliceOf(word).Draw(t, "reserved")
		seen := map[string]bool{}
		for i, name := range gen.Number(want, reserved) {
			if seen[name] || slices.Contains(reserved, name) || !strings.HasPrefix(name, want[i]) {
				t.Fatalf("found %s for %s among %v", name, want[i], want)
			}
			if name != want[i] && !slices.Contains(reserved, want[i]) && slices.Index(want, want[i]) == i {
				t.Errorf("found %s for %s, which was free", name, want[i])
			}
			seen[name] = true
		}
	})
}

// TestManyAlike: a Host with as many entries as it may have, all of names that
// become one, costs no more than their number.
func TestManyAlike(t *testing.T) {
	i := gridDocuments(t)[0].Interfaces
	m := &gen.Mounted{}
	for n := range 4096 {
		segment := strings.NewReplacer("0", "-", "1", ".").Replace(fmt.Sprintf("%012b", n))
		m.Entries = append(m.Entries, entryAt("/"+segment, "/", i))
	}
	size := 0
	for _, f := range gen.PythonMounted(m) {
		if filepath.Base(f.Name) == "mounted.py" {
			size = len(f.Data)
		}
	}
	if size == 0 || size > 4096*400 {
		t.Errorf("found %d bytes for 4096 entries", size)
	}
}

// BenchmarkPythonMounted generates what is mounted of the grid.
func BenchmarkPythonMounted(b *testing.B) {
	var entries []gen.Entry
	for _, d := range gridDocuments(b) {
		entries = append(entries, entryAt("/grid/"+strings.ToLower(d.Interfaces[0].Name), "/grid", d.Interfaces))
	}
	b.ReportAllocs()
	for b.Loop() {
		gen.PythonMounted(&gen.Mounted{Entries: entries})
	}
}
