package idl_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl"
)

// A value that no constant has is told as a number, and not by a panic.
func TestNamesOutOfRange(t *testing.T) {
	for got, want := range map[string]string{
		idl.Audience(0).String():        "nobody",
		idl.SchedulerRun.String():       "scheduler_run",
		(idl.SchedulerRun + 1).String(): "Audience(6)",
		idl.Audience(255).String():      "Audience(255)",
		idl.Destructive.String():        "destructive",
		(idl.Destructive + 1).String():  "Risk(4)",
		idl.Risk(255).String():          "Risk(255)",
	} {
		if got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}
