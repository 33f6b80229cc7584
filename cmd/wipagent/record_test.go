package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/replay"
)

// An interrupt ends a recording after a whole line, and the end of the session
// that it brings about is no part of it.
func TestRecordInterrupted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "visit.jsonl")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out, err bytes.Buffer
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, []string{"record", "--force", "-o", path}, streams{in: os.Stdin, out: &out, err: &err})
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		parts, _ := filepath.Glob(filepath.Join(dir, "visit.part-*.jsonl"))
		if len(parts) == 1 {
			if b, _ := os.ReadFile(parts[0]); bytes.Contains(b, []byte("region_ready")) {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "before" {
		t.Errorf("what was there is %q before the recording is complete", b)
	}
	cancel()
	if got := <-exit; got != exitDone || !strings.HasPrefix(out.String(), "recorded ") || err.Len() > 0 {
		t.Errorf("found exit code %d, %q and %q", got, &out, &err)
	}
	f, openErr := os.Open(path)
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer f.Close()
	rec, openErr := replay.Open(t.Context(), f)
	if openErr != nil || rec.CutOff {
		t.Errorf("found %+v, %v", rec, openErr)
	}
	if b, _ := os.ReadFile(path); bytes.Contains(b, []byte("disconnected")) {
		t.Error("the end of the session was recorded")
	}
}

// A recording does not tell how somebody logged in, or where files lie.
func TestWorldName(t *testing.T) {
	for name, want := range map[string]string{
		"demo":                 "demo",
		"/home/somebody/a.oar": "a.oar",
		"grid:home":            "grid:home",
		"grid:https://user:secret@grid.example:8002/login?token=secret": "grid:https://grid.example:8002",
	} {
		if got := worldName(name); got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
}

func TestSpeed(t *testing.T) {
	half, nothing := 0.5, 0.0
	for _, test := range []struct {
		given *float64
		mode  mode
		want  float64
	}{{nil, once, 0}, {nil, serving, 1}, {&half, once, 0.5}, {&half, serving, 0.5}, {&nothing, serving, 0}} {
		c := &cli{mode: test.mode}
		c.Speed = test.given
		if got, err := c.speed(); err != nil || got != test.want {
			t.Errorf("%v, %v: found %v, %v, expected %v", test.given, test.mode, got, err, test.want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"1": 1, "500KiB": 500 << 10, "64 MiB": 64 << 20, "1GiB": 1 << 30} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: found %d, %v, expected %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "MiB", "1.5MiB", "2GiB", "1TiB", "9223372036854775807GiB"} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
	for size, want := range map[byteSize]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 64 << 20: "64 MiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d: found %s, expected %s", int64(size), got, want)
		}
	}
}
