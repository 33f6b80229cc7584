package adapter_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestInspect compares what inspect answers on the demo world with the golden
// file. The principal may see the operations of the contract alone, so that
// others can be added to the document.
func TestInspect(t *testing.T) {
	const golden = "testdata/inspect.txtar"
	p := &policy.Principal{ID: "p", Audience: idl.LocalOperator, Intent: []string{
		"/grid/region#world_location", "/grid/region#nearby_avatars", "/grid/region#visible_objects",
	}}
	got := &txtar.Archive{Comment: []byte("What inspect answers on the demo world 1.25 s after it was looked at.\n\n")}
	synctest.Test(t, func(t *testing.T) {
		c := grid(t)
		time.Sleep(1250 * time.Millisecond)
		for _, target := range []string{"/grid", "/grid/region", "/grid/region#nearby_avatars"} {
			answer, ok := adapter.New(adapter.Config{Client: c}).Call(t.Context(), p, "inspect", "", json.RawMessage(`{"target":"`+target+`"}`))
			if !ok || answer.Failed {
				t.Fatalf("%s: %s", target, answer.JSON)
			}
			var b bytes.Buffer
			if err := json.Indent(&b, answer.JSON, "", "  "); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
			got.Files = append(got.Files, txtar.File{Name: strings.TrimPrefix(target, "/"), Data: b.Bytes()})
		}
	})
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAgeOfEntries inspects an entry of the demo world at several times.
func TestAgeOfEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := grid(t)
		slept := time.Duration(0)
		for _, pause := range []time.Duration{0, time.Millisecond, 1500*time.Millisecond + 999*time.Microsecond} {
			time.Sleep(pause)
			slept += pause
			answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, "inspect", "", json.RawMessage(`{"target":"/grid/region"}`))
			if got := gjson.GetBytes(answer.JSON, "age_millis"); !got.Exists() || got.Int() != slept.Milliseconds() {
				t.Errorf("the entry has the age %s ms after %v", got.Raw, slept)
			}
		}
	})
}
