package main

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/resilience"
)

// TestHostsGoAndComeBack: each time is said, once, and one failed request is not.
func TestHostsGoAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		w := &hostWatch{down: map[string]time.Time{}, say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
		host := func(path string, available bool, failures int) client.MountStatus {
			s := client.MountStatus{Path: path, Available: available, State: &resilience.State{Failures: failures}}
			if failures > 0 {
				s.State.LastFailure = "transient"
			}
			return s
		}
		begin := true
		for _, step := range []struct {
			a, b client.MountStatus
			want []string
		}{
			{host("/a", true, 0), host("/b", false, 3), nil},
			{host("/a", true, 1), host("/b", false, 4), nil},
			{host("/a", true, 3), host("/b", false, 5), []string{"/a: the Host is down: 3 failures in a row, the latest of class transient"}},
			{host("/a", false, 6), host("/b", true, 0), nil},
			{host("/a", true, 1), host("/b", true, 0), nil},
			{host("/a", true, 0), host("/b", false, 0), []string{"/a: the Host is back, after 3s", "/b: the Host is down"}},
			{host("/a", true, 2), host("/b", true, 0), []string{"/b: the Host is back, after 1s"}},
			{host("/a", false, 1), host("/b", true, 0), []string{"/a: the Host is down: 1 failure in a row, the latest of class transient"}},
		} {
			said = nil
			w.look([]client.MountStatus{step.a, step.b, {Path: "/grid", Available: true}}, begin)
			if diff := cmp.Diff(step.want, said); diff != "" {
				t.Errorf("%+v %+v: %s", *step.a.State, *step.b.State, diff)
			}
			begin = false
			time.Sleep(hostsEach)
		}
	})
}
