package script_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/script"
)

// TestEval plays the sessions of testdata/sessions.txtar: lines after ">>> " are
// inputs, those after "... " what is added to one that goes on, and the rest is
// what comes of them.
func TestEval(t *testing.T) {
	const golden = "testdata/sessions.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	for i, f := range archive.Files {
		var got bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			c, _ := grid(t)
			var out bytes.Buffer
			e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
			input := ""
			for line := range strings.Lines(string(f.Data)) {
				added, ok := strings.CutPrefix(line, ">>> ")
				if !ok {
					if added, ok = strings.CutPrefix(line, "... "); !ok {
						continue
					}
				} else if input != "" {
					got.WriteString("(goes on)\n")
					input = ""
				}
				got.WriteString(line)
				input += added
				value, incomplete, err := e.Eval(t.Context(), input)
				got.Write(out.Bytes())
				out.Reset()
				if incomplete {
					continue
				}
				input = ""
				if err != nil {
					var fail *script.Error
					if !errors.As(err, &fail) {
						t.Fatalf("got an error %T", err)
					}
					value = "! " + strings.ReplaceAll(fail.Backtrace(), "\n", "\n! ")
				}
				if value != "" {
					got.WriteString(value + "\n")
				}
			}
			if input != "" {
				got.WriteString("(goes on)\n")
			}
		})
		archive.Files[i].Data = got.Bytes()
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(txtar.Format(archive))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEvalInterrupted goes on after an input that was cancelled.
func TestEvalInterrupted(t *testing.T) {
	c, _ := grid(t)
	e := script.New(script.Config{Client: c, Principal: owner, Unlimited: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := e.Eval(ctx, "x = 1\nwhile True: x += 1\n\n")
	var limit *script.LimitError
	if !errors.As(err, &limit) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if value, _, err := e.Eval(t.Context(), "x > 1"); err != nil || value != "True" {
		t.Errorf("afterwards: %q, %v", value, err)
	}
}

// TestComplete completes at the mark "|" of each line.
func TestComplete(t *testing.T) {
	c, _ := grid(t)
	e := script.New(script.Config{Client: c, Principal: owner})
	if err := e.Run(t.Context(), "setup", []byte("a = grid.region.nearby_avatars(radius_meters=100)\nfirst = a.items[0]\nregion = grid.region\nnumber = 7\nprice = 2")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line  string
		start int
		want  string // texts, or a text and its description
	}{
		{"gr|", 0, "grid"},
		{"pri|", 0, "price print"},
		{"x = num|", 4, "number"},
		{"grid.|", 5, "agent child inventory parcel path region summary title"},
		{"grid.re|", 5, "region"},
		{"grid.region.|", 12, "child nearby_avatars( path summary title visible_objects( world_location()"},
		{"print(grid.region.ne|, 1)", 18, "nearby_avatars("},
		{"region.w|", 7, "world_location()"},
		{`root["grid"].re|`, 13, "region"},
		{`entry("/grid/region").ne|`, 22, "nearby_avatars("},
		{`root["|`, 6, "grid"},
		{`grid['re|`, 6, "region"},
		{`entry("/|`, 7, "/grid"},
		{`entry("/grid/|`, 7, "/grid/agent /grid/inventory /grid/parcel /grid/region"},
		{`help('/grid/in|`, 6, "/grid/inventory"},
		{"grid.region.nearby_avatars(|", 27, "page= page_size= radius_meters="},
		{"grid.region.nearby_avatars(pa|", 27, "page= page_size="},
		{"grid.region.nearby_avatars(page=1, |", 35, "page_size= radius_meters="},
		{"grid.region.nearby_avatars(page=max([1, 2], 3), p|", 48, "page_size= price print"},
		{"grid.region.nearby_avatars(page=pri|", 32, "price print"},
		{"for x in grid.region.visible_objects(radius|", 37, "radius_meters="},
		{"first.na|", 6, "name"},
		{"first.position.|", 15, "status x y z"},
		{"a.tot|", 2, "total_matching"},
		{"json.|", 5, "decode encode"},
		{"nothing.|", 8, ""},
		{"number.|", 7, ""},
		{"f().|", 4, ""},
		{"'text gri|", 6, ""},
		{"# gri|", 6, ""},
		{"12|", 0, ""},
		{"1.5|", 0, ""},
		{"wh|", 0, "while"},
		{"|", 0, "*"},
		{"grid.region.nearby_avatars(radius_meters=20).|", 45, ""},
		{")]}.|", 4, ""},
		{"é.|", 3, ""},
	} {
		pos := strings.IndexByte(test.line, '|')
		start, list := e.Complete(strings.Replace(test.line, "|", "", 1), pos)
		var texts []string
		for _, item := range list {
			texts = append(texts, item.Text)
		}
		if got := strings.Join(texts, " "); test.want != "*" && got != test.want || got != "" && start != test.start || test.want == "*" && len(list) < 40 {
			t.Errorf("%s: got %q from %d, want %q from %d", test.line, got, start, test.want, test.start)
		}
	}
	_, list := e.Complete("grid.region.ne", 14)
	if len(list) != 1 || !strings.HasPrefix(list[0].Description, "nearby_avatars(radius_meters: float [0..256] = 96,") {
		t.Errorf("an operation is described by %+v", list)
	}
	_, list = e.Complete("grid.region.nearby_avatars(rad", 30)
	if len(list) != 1 || list[0].Description != "radius_meters: float [0..256] = 96" {
		t.Errorf("a parameter is described by %+v", list)
	}
	hidden := script.New(script.Config{Client: c, Principal: visitor})
	if _, list := hidden.Complete("grid.in", 7); len(list) != 0 {
		t.Errorf("what is hidden is completed: %+v", list)
	}
	for _, pos := range []int{-5, 100} {
		e.Complete("grid.", pos)
	}
}
