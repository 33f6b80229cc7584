package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

func code(src string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"code": src})
	if err != nil {
		panic(err)
	}
	return raw
}

// TestRunner compares what the tool answers to the scripts of
// testdata/runner.txtar.
func TestRunner(t *testing.T) {
	const golden = "testdata/runner.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	got := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".star")
		if !ok {
			continue
		}
		var indented bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			c, _ := grid(t)
			p := owner
			if strings.HasPrefix(name, "visitor") {
				p = visitor
			}
			answer := script.NewRunner(c, script.Limits{Output: 2000, Calls: 40}).Run(t.Context(), p, "", code(string(f.Data)))
			if len(answer.JSON) > 2000 && !answer.Failed {
				t.Errorf("%s: the answer has %d bytes", f.Name, len(answer.JSON))
			}
			if answer.Failed != gjson.GetBytes(answer.JSON, "error").Exists() {
				t.Errorf("%s: failed is %v", f.Name, answer.Failed)
			}
			if err := json.Indent(&indented, answer.JSON, "", "  "); err != nil {
				t.Fatalf("%s: %v in %s", f.Name, err, answer.JSON)
			}
			indented.WriteString("\n")
		})
		got.Files = append(got.Files, f, txtar.File{Name: name + ".json", Data: indented.Bytes()})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(txtar.Format(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRunnerCorrects sends what the tool proposes back to it.
func TestRunnerCorrects(t *testing.T) {
	c, _ := grid(t)
	r := script.NewRunner(c, script.Limits{})
	for name, test := range map[string]struct{ src, want string }{
		"a value":           {"print('ä'); x = grid.region.nearby_avatars(radius_meters=1000, page_size=2)\nprint(len(x.items))", "ä\n2\n"},
		"positional":        {"print(len(grid.region.nearby_avatars(30, 1).items) > 0)", "True\n"},
		"in a function":     {"def f():\n  return grid.region.nearby_avatars(\n    page_size=-1)\nprint(len(f().items))", "1\n"},
		"through a name":    {"r = grid.region\nprint(len(r.nearby_avatars(page_size=100).items) > 2)", "True\n"},
		"of another's path": {"print(entry('/grid/regin') == grid.region)", "True\n"},
	} {
		a := r.Run(t.Context(), owner, "", code(test.src))
		fixed := gjson.GetBytes(a.JSON, "error.corrected_call")
		if !a.Failed || !fixed.Exists() {
			t.Errorf("%s: got %s", name, a.JSON)
			continue
		}
		again := r.Run(t.Context(), owner, "", json.RawMessage(fixed.Raw))
		if got := gjson.GetBytes(again.JSON, "output").Str; again.Failed || got != test.want {
			t.Errorf("%s: corrected to %s, which gives %s", name, fixed.Get("code").Str, again.JSON)
		}
	}
	for name, src := range map[string]string{
		"a variable":  "r = 1000\ngrid.region.nearby_avatars(radius_meters=r)",
		"an unknown":  "grid.region.nearby_avatars(radius_meters=1000, page=1 + 1)",
		"spread":      "grid.region.nearby_avatars(**{'radius_meters': 1000})",
		"no call":     "grid.region.nearby",
		"to attempt":  "attempt(grid.region.nearby_avatars, radius_meters=1000)[1] + 1",
		"to a lambda": "f = grid.region.nearby_avatars\n(lambda x: f(radius_meters=x))(1000)",
	} {
		if a := r.Run(t.Context(), owner, "", code(src)); !a.Failed || gjson.GetBytes(a.JSON, "error.corrected_call").Exists() {
			t.Errorf("%s: got %s", name, a.JSON)
		}
	}
}

// TestRunnerRecord checks the record of the tool itself.
func TestRunnerRecord(t *testing.T) {
	c, log := grid(t)
	r := script.NewRunner(c, script.Limits{})
	for sent, want := range map[string]string{
		`{}`: "/code", `{"code":""}`: "/code", `{"code":5}`: "/code", `[]`: "", `nonsense`: "", `{"cod":"print(1)"}`: "/cod",
		`{"code":"` + strings.Repeat("a", 33000) + `"}`: "/code",
	} {
		log.Reset()
		a := r.Run(t.Context(), owner, "x", json.RawMessage(sent))
		e := gjson.GetBytes(a.JSON, "error")
		if !a.Failed || e.Get("class").Str != "arguments" || e.Get("faults.0.path").Str != want {
			t.Errorf("%.40s: got %s", sent, a.JSON)
		}
		if rec := gjson.Parse(log.String()); rec.Get("verb").Str != "run" || rec.Get("outcome").Str != "arguments" || rec.Get("call").Str != "x" {
			t.Errorf("%.40s: recorded %s", sent, log)
		}
	}
	if a := r.Run(t.Context(), owner, "", json.RawMessage(`"{\"code\":\"1 + 1\"}"`)); string(a.JSON) != `{"output":"","value":2,"calls":0}` {
		t.Errorf("a record in a string gives %s", a.JSON)
	}
	tool := r.Tool()
	if tool.Name != "run_script" || len(tool.Description) > 900 || len(tool.Params) != 1 || !tool.ReadOnly || !json.Valid(tool.Output) {
		t.Errorf("the tool is %+v, its description of %d bytes", tool, len(tool.Description))
	}
	for _, example := range tool.Examples {
		if a := r.Run(t.Context(), owner, "", example); a.Failed {
			t.Errorf("the example %s gives %s", example, a.JSON)
		}
	}
	_, lines, _ := strings.Cut(tool.Description, "Example:\n")
	if a := r.Run(t.Context(), owner, "", code(lines)); a.Failed || gjson.GetBytes(a.JSON, "output").Str == "" {
		t.Errorf("the description's example %q gives %s", lines, a.JSON)
	}
}

// TestRunnerAudit counts the records of a run: its own, and one for each call.
func TestRunnerAudit(t *testing.T) {
	c, log := grid(t)
	r := script.NewRunner(c, script.Limits{})
	for _, test := range []struct{ src, want string }{
		{"grid.inventory.inventory_search('SECRET')\ngrid.region.world_location()\n'SECRET'", "invoke call-1.1 ok, invoke call-1.2 ok, run call-1 ok"},
		{"attempt(grid.inventory.inventory_search, query='SECRET', page='SECRET')\nfail('SECRET')", "invoke call-1.1 arguments, run call-1 arguments"},
		{"SECRET", "run call-1 arguments"},
		{"while True: pass", "run call-1 domain"},
		{"list(range(1 << 40))", "run call-1 domain"},
	} {
		log.Reset()
		a := r.Run(t.Context(), owner, "call-1", code(test.src))
		var got []string
		for line := range strings.Lines(log.String()) {
			if rec := gjson.Parse(line); rec.Get("verb").Str != "inspect" {
				got = append(got, rec.Get("verb").Str+" "+rec.Get("call").Str+" "+rec.Get("outcome").Str)
			}
		}
		if strings.Join(got, ", ") != test.want || strings.Contains(log.String(), "SECRET") {
			t.Errorf("%s recorded %s\n%s\n%s", test.src, got, log, a.JSON)
		}
	}
	log.Reset()
	a := r.Run(t.Context(), owner, strings.Repeat("x", 60), code("grid.region.world_location().region_name"))
	if bytes.Contains(log.Bytes(), []byte("xxx")) || a.Failed {
		t.Errorf("an identifier without room for numbers is recorded: %s %s", log, a.JSON)
	}
	for line := range strings.Lines(log.String()) {
		if rec := gjson.Parse(line); rec.Get("verb").Str == "run" && rec.Get("result_bytes").Int() != int64(len(a.JSON)) {
			t.Errorf("recorded %s for %d bytes", line, len(a.JSON))
		}
	}
}

// TestRunnerSeesNoMore compares, for callers of every kind, what a script finds
// with what the verbs show.
func TestRunnerSeesNoMore(t *testing.T) {
	c, _ := grid(t)
	r := script.NewRunner(c, script.Limits{Calls: 1000})
	const src = `
found = []
def look(path):
    for i in inspect(path).interfaces if hasattr(inspect(path), "interfaces") else []:
        for o in i.operations:
            found.append(path + "#" + o.name)
            found.append("%s" % hasattr(entry(path), o.name))
todo = ["/"]
while todo:
    path = todo.pop()
    look(path)
    for name in ["agent", "region", "parcel", "inventory", "grid"]:
        if hasattr(entry(path), name):
            todo.append(entry(path).child(name).path)
found`
	for name, p := range map[string]*policy.Principal{
		"visitor": visitor, "owner": owner, "nobody": {ID: "n"},
		"narrowed":  {ID: "i", Audience: idl.LocalOperator, Intent: []string{"/grid/region#world_location"}},
		"scheduler": {ID: "s", Audience: idl.SchedulerRun, Grants: []string{"/grid/inventory#inventory_search"}},
	} {
		a := r.Run(t.Context(), p, "", code(src))
		got := map[string]bool{}
		for _, v := range gjson.GetBytes(a.JSON, "value").Array() {
			if v.Str == "False" {
				t.Errorf("%s: an operation that inspect shows is no attribute: %s", name, a.JSON)
			}
			if v.Str != "True" {
				got[v.Str] = true
			}
		}
		want := map[string]bool{}
		for _, path := range []string{"/grid", "/grid/agent", "/grid/region", "/grid/parcel", "/grid/inventory"} {
			if found, err := c.Inspect(t.Context(), p, path); err == nil {
				for _, op := range found.Operations {
					want[path+"#"+op.Name] = true
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || a.Failed {
			t.Errorf("%s: (-want +got):\n%s%s", name, diff, a.JSON)
		}
	}
	hidden := r.Run(t.Context(), visitor, "", code("grid.inventory.inventory_search('x')"))
	absent := r.Run(t.Context(), visitor, "", code("grid.inventors.inventory_search('x')"))
	if got, want := string(hidden.JSON), strings.ReplaceAll(string(absent.JSON), "inventors", "inventory"); got != want {
		t.Errorf("what is hidden is answered with %s, what is absent with %s", got, want)
	}
}

// TestRunnerCancelled ends runs by their contexts, in the middle of whatever they
// do.
func TestRunnerCancelled(t *testing.T) {
	c, _ := grid(t)
	r := script.NewRunner(c, script.Limits{Steps: 1 << 50, Memory: 1 << 40, Time: time.Hour, Output: 1 << 20, Calls: 1 << 40})
	for name, src := range map[string]string{
		"a loop":           "while True: pass",
		"sorting":          "x = [(i * 7919) % 1000003 for i in range(1000000)]\nwhile True: sorted(x)",
		"sorting strings":  "x = ['a' * 100000 + str(i) for i in range(1000)] * 1000\nwhile True: sorted(x)",
		"a range":          "all(range(1, 1 << 60))",
		"a maximum":        "while True: max(range(1000000))",
		"replacing":        "x = 'a' * 4000000\nwhile True: x.replace('a', 'b')",
		"joining":          "x = ['a'] * 1000000\nwhile True: ','.join(x)",
		"printing":         "x = [0] * 100000\nwhile True: str(x)",
		"JSON":             "x = [0] * 100000\nwhile True: json.decode(json.encode(x))",
		"comparing":        "x = [[0] * 1000] * 100\nwhile True: x == [[0] * 1000] * 100",
		"calls":            "while True: attempt(grid.region.nearby_avatars, radius_meters=1000)",
		"a comprehension":  "[0 for i in range(1 << 60) if False]",
		"removing":         "x = list(range(1000000))\nwhile True: x.insert(0, x.pop())",
		"attempts":         "def f():\n  while True: pass\nwhile True: attempt(f)",
		"large arithmetic": "x = 1\nfor i in range(60): x = x << 500\nwhile True: x * x % (x - 1)",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		var ended time.Time
		go func() {
			defer close(done)
			a := r.Run(ctx, owner, "", code(src))
			ended = time.Now()
			if e := gjson.GetBytes(a.JSON, "error"); !a.Failed || e.Get("class").Str != "unavailable" {
				t.Errorf("%s: got %s", name, a.JSON)
			}
		}()
		time.Sleep(100 * time.Millisecond) // for the script to get going; whether it did changes nothing
		start := time.Now()
		cancel()
		select {
		case <-done:
			t.Logf("%s: ended %s after", name, ended.Sub(start))
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: goes on", name)
		}
	}
}

// TestRunnerConcurrently runs many scripts at once.
func TestRunnerConcurrently(t *testing.T) {
	c, _ := grid(t)
	r := script.NewRunner(c, script.Limits{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			a := r.Run(t.Context(), owner, "", code("x = [a.name for a in grid.region.nearby_avatars(radius_meters=100)]\nlen(x)"))
			if gjson.GetBytes(a.JSON, "value").Int() < 2 {
				t.Errorf("got %s", a.JSON)
			}
		})
	}
	all.Wait()
}

// What is shown whole is not called cut.
func TestRunnerTellsOnlyCutsThatAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := grid(t)
		for src, cut := range map[string]bool{`print("safe")`: false, `print("a" * 1000)`: false, `print("a" * 40000)`: true} {
			answer := script.NewRunner(c, script.Limits{}).Run(t.Context(), owner, "", code(src))
			if got := gjson.GetBytes(answer.JSON, "truncated").Bool(); got != cut || cut != (gjson.GetBytes(answer.JSON, "hint").Str != "") {
				t.Errorf("%s: truncated is %v, want %v: %.200s", src, got, cut, answer.JSON)
			}
		}
	})
}

// A few scripts run at once: the others wait for their turn, and are told to
// come again if it does not come.
func TestRunnerBoundsScriptsAtOnce(t *testing.T) {
	for takes, late := range map[time.Duration]int{time.Second: 0, 20 * time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			c, _ := foreign(t, true, func(context.Context, client.Approval) bool {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(takes)
				mu.Lock()
				running--
				mu.Unlock()
				return true
			})
			r := script.NewRunner(c, script.Limits{Time: 5 * time.Second})
			var told atomic.Int32
			var wg sync.WaitGroup
			for range 7 {
				wg.Go(func() {
					a := r.Run(t.Context(), owner, "", code("jobs['my-tracker'].one.close('done')"))
					if gjson.GetBytes(a.JSON, "error.message").Str == "too many scripts are running" && gjson.GetBytes(a.JSON, "error.retry_after_millis").Int() > 0 {
						told.Add(1)
					}
				})
			}
			wg.Wait()
			if most != 4 || told.Load() != int32(late) {
				t.Errorf("calls of %v: found %d scripts at once and %d told to come again, want 4 and %d", takes, most, told.Load(), late)
			}
		})
	}
}

// The time that a person takes to decide is not the script's.
func TestRunnerWaitsForApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, host := foreign(t, true, func(context.Context, client.Approval) bool {
			time.Sleep(time.Minute)
			return true
		})
		r := script.NewRunner(c, script.Limits{Time: 5 * time.Second})
		a := r.Run(t.Context(), owner, "", code("one = jobs['my-tracker'].one\none.close('done')\none.close('done')"))
		if a.Failed {
			t.Errorf("two calls with a minute each to decide, in a script of 5 s: found %s", a.JSON)
		}
		_ = host
	})
}
