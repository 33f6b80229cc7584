package main

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/script"
)

// TestScriptLimits compares the limits with the table that documents them.
func TestScriptLimits(t *testing.T) {
	page, err := os.ReadFile("../../spec/script.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (steps|time|calls|memory|output) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|`)
	var documented [3]script.Limits
	rows := row.FindAllStringSubmatch(string(page), -1)
	for _, cells := range rows {
		for i, cell := range cells[2:] {
			n := limit(t, cell)
			switch l := &documented[i]; cells[1] {
			case "steps":
				l.Steps = uint64(n)
			case "time":
				l.Time = time.Duration(n)
			case "calls":
				l.Calls = int(n)
			case "memory":
				l.Memory = n
			case "output":
				l.Output = int(n)
			}
		}
	}
	defaults := func(field string) int64 {
		f, _ := reflect.TypeFor[runCmd]().FieldByName(field)
		return limit(t, f.Tag.Get("default"))
	}
	run := script.Limits{
		Steps: uint64(defaults("MaxSteps")), Time: time.Duration(defaults("MaxTime")), Calls: int(defaults("MaxCalls")),
		Memory: defaults("MaxMemory"), Output: int(defaults("MaxOutput")),
	}
	if diff := cmp.Diff([3]script.Limits{run, replLimits, script.DefaultLimits}, documented); diff != "" || len(rows) != 5 {
		t.Errorf("%d limits of run, prompt and code mode are documented (-built +documented):\n%s", len(rows), diff)
	}
}

// limit reads a limit as people write it: 1,000, 10 s, 64 MiB, none.
func limit(t *testing.T, text string) int64 {
	t.Helper()
	text = strings.NewReplacer(",", "", " ", "", "none", "0").Replace(text)
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return int64(d)
	}
	unit := int64(1)
	for suffix, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = rest, size
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("found the limit %q", text)
	}
	return n * unit
}
