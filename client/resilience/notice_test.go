package resilience_test

import (
	"strings"
	"testing"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space/wip"
)

// What this package answers in a Host's place says why in the operator's log.
func TestNotices(t *testing.T) {
	for want, err := range map[string]error{
		"left alone for now": &resilience.OpenError{},
		"wait for the Host":  &resilience.BusyError{},
	} {
		if got := audit.Describe(&wip.Failure{Class: wip.Transient, Message: "m", Err: err}); !strings.Contains(got, want) {
			t.Errorf("found %q, want %q in it", got, want)
		}
	}
}
