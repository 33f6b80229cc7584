package store_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
)

// childFile names the file that this binary writes to instead of testing, until
// it is killed.
const childFile = "WIPAGENT_STORE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		os.Exit(child(path))
	}
	os.Exit(m.Run())
}

// number makes an entry that says which it is.
func number(i int) space.KeptEntry {
	e := entry(fmt.Sprintf("/e%06d", i), strings.Repeat(strconv.Itoa(i)+" ", 1+i%40))
	e.Seen = noon.Add(time.Duration(i))
	return e
}

// treeSize is how many entries the tree of a step has.
func treeSize(step int) int { return 1 + step%50 }

// child writes observations one after another, and a tree now and then, and says
// on stdout how far it is once that is in the file. Some are acknowledged one by
// one, some in a burst.
func child(path string) int {
	s, err := store.Open(path, store.Limits{Known: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	from := 1
	if kept, err := s.Known("me", house); err != nil {
		fmt.Println(err)
		return 1
	} else if kept != nil {
		from += len(kept.Entries)
	}
	for i := from; ; i++ {
		if i%5 == 0 {
			c := &space.TreeChange{Tag: strconv.Itoa(i), Seen: noon.Add(time.Duration(i))}
			for range treeSize(i) {
				c.Entries = append(c.Entries, number(len(c.Entries)))
			}
			if err := s.KeepTree(house, c); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		if err := s.KeepKnown("me", house, &space.TreeChange{Entries: []space.KeptEntry{number(i)}, Documents: []space.KeptDocument{document("lamp.wip", strconv.Itoa(i/7))}}); err != nil {
			fmt.Println(err)
			return 1
		}
		if i%100 < 50 || i%10 == 0 {
			if err := s.Sync(); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println(i)
		}
	}
}

// runs is how often to do what an environment variable may demand more of.
func runs(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_RUNS")); err == nil {
		return n
	}
	return few
}

// TestKill kills a process that writes, at any instant, again and again on one
// file: it opens, and holds at least what was acknowledged, at most what was put,
// and nothing out of order.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.db")
	acknowledged, after := 0, 0
	for run := range runs(t, 10) {
		if run%20 == 19 { // begin with no file
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			acknowledged = 0
		}
		// Half of them early: while the file is made, opened and checked.
		within := time.Duration(rand.Int64N(int64([]time.Duration{60, 250}[run%2] * time.Millisecond)))
		if last := killed(t, path, within); last > 0 {
			acknowledged = last
		}
		if _, err := os.Stat(path); os.IsNotExist(err) && acknowledged == 0 {
			continue
		}
		after++
		s, err := store.Open(path, store.Limits{Known: 1 << 20})
		if err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
		known, err := s.Known("me", house)
		if err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
		have := 0
		if known != nil {
			have = len(known.Entries)
			for i, e := range known.Entries {
				if want := number(i + 1); e.Path != want.Path || e.Title != want.Title || !e.Seen.Equal(want.Seen) {
					t.Fatalf("run %d: entry %d is %s %q, expected %s", run, i, e.Path, e.Title, want.Path)
				}
			}
			if d := document("lamp.wip", strconv.Itoa(have/7)); string(known.Documents[0].Text) != string(d.Text) {
				t.Fatalf("run %d: the document is that of %s, expected %s", run, known.Documents[0].Text, d.Text)
			}
		}
		if have < acknowledged {
			t.Fatalf("run %d: %d observations are there, and %d were acknowledged", run, have, acknowledged)
		}
		tree, err := s.Tree(house)
		switch step := have - have%5; {
		case err != nil:
			t.Fatalf("run %d: %v", run, err)
		case tree == nil && have >= 5:
			t.Fatalf("run %d: the tree is gone", run)
		case tree == nil:
		default:
			// The tree of a step is put before its observation, and may be there alone.
			tag, err := strconv.Atoi(tree.Tag)
			if err != nil || tag != step && !(have == step+4 && tag == step+5) || len(tree.Entries) != treeSize(tag) {
				t.Fatalf("run %d: the tree of %d observations is %q with %d entries", run, have, tree.Tag, len(tree.Entries))
			}
		}
		if err := s.Close(); err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
		acknowledged = have
	}
	if after == 0 {
		t.Error("no run left a file")
	}
	t.Logf("%d of %d runs left a file, the last with %d observations", after, runs(t, 10), acknowledged)
	if left, err := filepath.Glob(path + ".new-*"); err != nil || len(left) > after {
		t.Errorf("%d files are left over, %v", len(left), err)
	}
}

// killed runs a child and kills it after a while. It returns the last number
// that the child has acknowledged.
func killed(t *testing.T, path string, after time.Duration) (last int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childFile+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			break // a line that was cut acknowledges nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		if last, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			_ = cmd.Process.Kill()
			t.Fatalf("the child says: %s", line)
		}
	}
	_ = cmd.Wait() // it was killed
	return last
}
