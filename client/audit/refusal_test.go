package audit_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/audit"
)

// reasons counts refusals.
type reasons struct {
	mu sync.Mutex
	of map[string]int
}

func (*reasons) Observe(audit.Record) {}

func (r *reasons) ObserveRefusal(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.of[reason]++
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// TestRefusals: a flood of one kind is told in a few lines, hides no other kind,
// and all of it is counted.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		counts := &reasons{}
		log := audit.New(&out, counts)
		said := func() (lines []string) {
			synctest.Wait() // until whoever writes has
			for line := range strings.Lines(out.take()) {
				at := gjson.GetMany(line, "level", "msg", "reason", "remote", "principal", "more")
				lines = append(lines, fmt.Sprint(at))
			}
			return lines
		}
		check := func(want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, said()); diff != "" {
				t.Error(diff)
			}
		}
		log.Refuse(audit.Refusal{Reason: "rate", Remote: "192.0.2.1", Principal: "ada"})
		check("[warning refused rate 192.0.2.1 ada ]")
		var flood sync.WaitGroup
		for range 10 {
			flood.Go(func() {
				for range 100 {
					log.Refuse(audit.Refusal{Reason: "token", Remote: "192.0.2.2"})
				}
			})
		}
		flood.Wait()
		first := strings.Repeat("[warning refused token 192.0.2.2  ]\n", 5)
		check(strings.Split(strings.TrimSpace(first), "\n")...)
		log.Refuse(audit.Refusal{Reason: "host", Remote: "192.0.2.3"})
		check("[warning refused host 192.0.2.3  ]")
		time.Sleep(11 * time.Second)
		check("[warning refused token   995]")
		time.Sleep(time.Hour)
		check()
		log.Refuse(audit.Refusal{Reason: "token", Remote: "192.0.2.2"})
		check("[warning refused token 192.0.2.2  ]")

		// What has not been told yet is told at the end.
		for range 8 {
			log.Refuse(audit.Refusal{Reason: "token", Remote: "192.0.2.2"})
		}
		said()
		log.Flush()
		check("[warning refused token   4]")
		time.Sleep(time.Minute)
		check()
		if diff := cmp.Diff(map[string]int{"rate": 1, "token": 1009, "host": 1}, counts.of); diff != "" {
			t.Error(diff)
		}

		// Without anywhere to write to it is counted all the same; a Log that is
		// none takes it too.
		audit.New(nil, counts).Refuse(audit.Refusal{Reason: "host"})
		if counts.of["host"] != 2 {
			t.Errorf("found %d", counts.of["host"])
		}
		var none *audit.Log
		none.Refuse(audit.Refusal{Reason: "host"})
		none.Flush()
	})
}
