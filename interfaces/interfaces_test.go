package interfaces_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/interfaces"
)

func compile(t testing.TB) []*idl.Document {
	t.Helper()
	names, err := fs.Glob(interfaces.FS(), "*.wip")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := idl.Compile(idl.FSLoader(interfaces.FS()), names...)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func operation(t testing.TB, name string) *idl.Operation {
	t.Helper()
	for _, d := range compile(t) {
		for _, i := range d.Interfaces {
			if o := i.Operation(name); o != nil {
				return o
			}
		}
	}
	t.Fatalf("no operation %q", name)
	return nil
}

func TestBindingsAreFresh(t *testing.T) {
	src, err := gen.Go(compile(t), "interfaces")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("zgrid.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, src) {
		t.Error("zgrid.go is not what the documents say: run go generate ./interfaces")
	}
}

// TestEightOperations restates P8, P9, P11 and P14 by hand: a change of a
// document that breaks one has to be made here too. Operations beyond the
// eight are held to what holds for all of them, and need no line here.
func TestEightOperations(t *testing.T) {
	want := map[string]string{
		"Agent.agent_state":            "public_chat () agent_id position health sitting_on_local_id",
		"Agent.recent_participants":    "authorized_im (page page_size) avatar_id channel last_active_unix_millis",
		"Region.world_location":        "public_chat () region_name position",
		"Region.nearby_avatars":        "public_chat (radius_meters page page_size) avatar_id name position distance_meters direction",
		"Region.visible_objects":       "public_chat (radius_meters page page_size) object_id local_id name description hover_text position scale",
		"Parcel.parcel_environment":    "public_chat () parcel environment",
		"Inventory.inventory_search":   "authorized_im (query page page_size) item_id name kind path creation_time modification_time",
		"Inventory.received_landmarks": "authorized_im (page page_size) item_id name kind path creation_time modification_time region_id",
	}
	got := map[string]string{}
	for _, d := range compile(t) {
		if d.Package != "grid" || d.Version != 1 {
			t.Errorf("%s: package %s, version %d", d.Name, d.Package, d.Version)
		}
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				_, eight := want[i.Name+"."+o.Name]
				if eight {
					got[i.Name+"."+o.Name] = summary(o)
				}
				if !o.Informational || o.Risk != idl.ReadOnly || !o.Idempotent || o.Cost != 1 || o.Timeout != 3*time.Second || o.MaxOutput != 32<<10 {
					t.Errorf("%s: registered as %v %v %v, cost %d, %v, %d bytes", o.Name, o.Informational, o.Risk, o.Idempotent, o.Cost, o.Timeout, o.MaxOutput)
				}
				if o.Result.Kind != idl.Observed {
					t.Errorf("%s: the result is %s, want it observed", o.Name, o.Result)
				}
				if o.Doc == "" || len(o.Aliases) == 0 || eight && len(o.Aliases) < 12 {
					t.Errorf("%s: %d aliases and documentation %q", o.Name, len(o.Aliases), o.Doc)
				}
				if len(o.Params) > 0 && len(o.Examples) == 0 {
					t.Errorf("%s: takes arguments and has no @example", o.Name)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// summary returns audience, parameters and the fields of what is returned.
func summary(o *idl.Operation) string {
	var params, fields []string
	for _, p := range o.Params {
		params = append(params, p.Name)
	}
	t := o.Result
	for t.Elem != nil {
		t = t.Elem
	}
	for _, f := range t.Record.Fields {
		fields = append(fields, f.Name)
	}
	return o.Audience.String() + " (" + strings.Join(params, " ") + ") " + strings.Join(fields, " ")
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ operation, args string }{
		{"nearby_avatars", `{"radius_meters":257}`},
		{"visible_objects", `{"radius_meters":-1}`},
		{"nearby_avatars", `{"page":0}`},
		{"nearby_avatars", `{"page":1001}`},
		{"recent_participants", `{"page_size":21}`},
		{"received_landmarks", `{"page_size":0}`},
		{"inventory_search", `{}`},
		{"inventory_search", `{"query":""}`},
		{"inventory_search", `{"query":"` + strings.Repeat("x", 129) + `"}`},
		{"world_location", `{"page":1}`},
	} {
		if args, err := operation(t, c.operation).DecodeArgs([]byte(c.args)); err == nil {
			t.Errorf("%s took %s as %s", c.operation, c.args, args.Record)
		}
	}
	args, err := operation(t, "nearby_avatars").DecodeArgs([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"radius_meters":96,"page":1,"page_size":20}`; string(args.Record) != want {
		t.Errorf("got defaults %s, want %s", args.Record, want)
	}
}

// TestNothingPrivateIsDeclared looks for words that P14 keeps out of results.
func TestNothingPrivateIsDeclared(t *testing.T) {
	for _, d := range compile(t) {
		for _, r := range d.Records {
			for _, f := range r.Fields {
				for _, word := range []string{"owner", "creator", "group", "permission", "sale", "price", "asset", "url", "attach", "message", "flags"} {
					if strings.Contains(f.Name, word) {
						t.Errorf("%s.%s speaks of %s", r.Name, f.Name, word)
					}
				}
			}
		}
	}
}

// TestAliases keeps one phrase from asking for two operations.
func TestAliases(t *testing.T) {
	asks := map[string]string{}
	for _, d := range compile(t) {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				for _, a := range o.Aliases {
					if other := asks[strings.ToLower(a.Text)]; other != "" {
						t.Errorf("%q asks for %s and %s", a.Text, other, o.Name)
					}
					asks[strings.ToLower(a.Text)] = o.Name
				}
			}
		}
	}
}

// TestBindingsBindAtCompileTime type-checks implementations that lack a method
// or have another signature.
func TestBindingsBindAtCompileTime(t *testing.T) {
	const src = `package interfaces

import "context"

type right struct{ Parcel[int] }
type lacking struct{}
type otherResult struct{ Parcel[int] }
type otherSnapshot struct{ Parcel[int] }

func (right) ParcelEnvironment(context.Context, int) (v ParcelEnvironment, err error)            { return }
func (otherResult) ParcelEnvironment(context.Context, int) (v CurrentParcel, err error)          { return }
func (otherSnapshot) ParcelEnvironment(context.Context, string) (v ParcelEnvironment, err error) { return }

var _ Parcel[int] = right{}
var _ Parcel[int] = lacking{}
var _ Parcel[int] = otherResult{}
var _ Parcel[int] = otherSnapshot{}
`
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "broken.go"), filepath.Join(dir, "overlay.json")
	here, err := filepath.Abs("zzbroken.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: src, overlay: fmt.Sprintf(`{"Replace":{%q:%q}}`, here, file)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "build", "-overlay", overlay, ".").CombinedOutput()
	if err == nil {
		t.Fatal("got no error")
	}
	var got []string
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "cannot use") {
			got = append(got, line)
		}
	}
	want := []string{"(missing method ", "(wrong type for method ParcelEnvironment)", "(wrong type for method ParcelEnvironment)"}
	if len(got) != len(want) {
		t.Fatalf("got %d errors, want %d: %s", len(got), len(want), out)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got %q, want %q in it", got[i], want[i])
		}
	}
}
