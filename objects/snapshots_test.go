package objects_test

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := objects.New(lived(), nil)
		taken := time.Now()
		first, r := operate(t, h, "world_location")
		if first["freshness"] != "observed" || r.CacheHit || first["age_millis"] != 0.0 || first["observed_unix_millis"] != millis(taken) {
			t.Errorf("first: found %v", first)
		}
		for _, step := range []struct {
			sleep     time.Duration
			freshness string
			age       float64
		}{
			{0, "cached", 0},
			{1500 * time.Millisecond, "cached", 1500},
			{499 * time.Millisecond, "cached", 1999},
			{time.Millisecond, "observed", 0},
			{time.Second, "cached", 1000},
			{time.Hour, "observed", 0},
		} {
			time.Sleep(step.sleep)
			v, r := operate(t, h, "nearby_avatars")
			if v["freshness"] != step.freshness || v["age_millis"] != step.age || r.CacheHit != (step.freshness == "cached") {
				t.Errorf("after %v: found %v, age %v, cache hit %v", step.sleep, v["freshness"], v["age_millis"], r.CacheHit)
			}
			if same := v["snapshot_id"] == first["snapshot_id"]; same != (step.freshness == "cached") && step.age != 1000 {
				t.Errorf("after %v: found snapshot %v, the first was %v", step.sleep, v["snapshot_id"], first["snapshot_id"])
			}
		}
	})
}

func TestConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := objects.New(lived(), &objects.Config{TTL: time.Minute})
		operate(t, h, "world_location")
		time.Sleep(59 * time.Second)
		if v, _ := operate(t, h, "world_location"); v["freshness"] != "cached" {
			t.Errorf("found %v inside the TTL", v["freshness"])
		}
		h = objects.New(lived(), &objects.Config{TTL: -1})
		operate(t, h, "world_location")
		if v, _ := operate(t, h, "world_location"); v["freshness"] != "observed" {
			t.Errorf("found %v without a cache", v["freshness"])
		}
	})
}

// The age of an archive is that of its saving, however fresh the snapshot.
func TestAgeOfAnArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved := time.Now().Add(-time.Hour)
		w := world.New()
		w.Apply(
			world.SessionStarted{Stamp: stamp, Source: "archive", AsOf: saved},
			world.RegionEntered{Stamp: stamp, Name: "Saved"},
			world.RegionReady{Stamp: stamp},
		)
		h := objects.New(w, nil)
		for _, freshness := range []string{"observed", "cached"} {
			v, _ := operate(t, h, "world_location")
			if v["observed_unix_millis"] != millis(saved) || v["age_millis"] != 3_600_000.0 || v["freshness"] != freshness {
				t.Errorf("found %v", v)
			}
		}
		time.Sleep(3 * time.Second)
		if v, _ := operate(t, h, "world_location"); v["age_millis"] != 3_603_000.0 || v["freshness"] != "observed" {
			t.Errorf("found %v", v)
		}
	})
}

// waiting returns what makes a capture take its time, unless its context ends.
func waiting(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Callers that come together share one capture, and nobody waits longer than
// its own context.
func TestSharedCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		captures := 0
		h := objects.NewOver(lived(), nil, waiting(time.Second), func() { captures++ })
		var callers sync.WaitGroup
		var observed, cached atomic.Int32
		for range 50 {
			callers.Go(func() {
				r, err := h.CallOperation(t.Context(), callOf("world_location"))
				switch {
				case err != nil:
					t.Error(err)
				case r.CacheHit:
					cached.Add(1)
				default:
					observed.Add(1)
				}
			})
		}
		synctest.Wait()
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := h.CallOperation(ctx, callOf("world_location"))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond {
				t.Errorf("found %v after %v", err, time.Since(began))
			}
		})
		callers.Wait()
		if captures != 1 || observed.Load() != 1 || cached.Load() != 49 {
			t.Errorf("found %d captures, %d calls answered as observed, %d as cached", captures, observed.Load(), cached.Load())
		}
	})
}

// A caller that gives up while it captures for others leaves the work to the
// next one.
func TestAbandonedCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := objects.NewOver(lived(), nil, waiting(time.Second), nil)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := h.CallOperation(ctx, callOf("world_location")); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that gave up: found %v", err)
			}
			if took := time.Since(began); took != 500*time.Millisecond {
				t.Errorf("gave up after %v", took)
			}
		})
		synctest.Wait()
		callers.Go(func() {
			if r, err := h.CallOperation(t.Context(), callOf("world_location")); err != nil || r.CacheHit {
				t.Errorf("the next one: found %v, %v", r.CacheHit, err)
			}
		})
		time.Sleep(500 * time.Millisecond)
		cancel()
		callers.Wait()
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("the next one took until %v", took)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			cfg  *objects.Config
			want time.Duration
		}{{nil, 3 * time.Second}, {&objects.Config{Deadline: time.Minute}, time.Minute}} {
			h := objects.NewOver(lived(), test.cfg, waiting(time.Hour), nil)
			began := time.Now()
			_, err := h.CallOperation(t.Context(), callOf("world_location"))
			if f := failureOf(t, err); f.Class != wip.Transient || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("found %+v", f)
			}
			if took := time.Since(began); took != test.want {
				t.Errorf("gave up after %v", took)
			}
		}
	})
}

// An answer from a stay that ended before the answer was complete is made
// anew; if there is no end to that, it is a failure of its own kind.
func TestStraddled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, region, crossings := lived(), here, 0
		cross := func() {
			if crossings++; crossings > 5 {
				return
			}
			region[15]++
			s := world.Stamp{Generation: 1, Region: region}
			w.Apply(world.RegionEntered{Stamp: s, Name: "Region " + strconv.Itoa(crossings)}, world.RegionReady{Stamp: s})
		}
		h := objects.NewOver(w, nil, waiting(100*time.Millisecond), cross)
		v, r := operate(t, h, "world_location")
		if v["region_name"] != "Region 5" || v["region_id"] != region.String() || r.CacheHit || crossings != 6 {
			t.Errorf("found %v after %d crossings", v, crossings)
		}

		crossings = -1000
		time.Sleep(time.Minute)
		began := time.Now()
		_, err := h.CallOperation(t.Context(), callOf("world_location"))
		if f := failureOf(t, err); f.Class != wip.Domain || f.Hint == "" || !errors.Is(err, world.ErrStraddled) {
			t.Errorf("found %+v", f)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
}

// Sources and callers at once; the race detector is the judge, and no answer
// may mix two stays.
func TestConcurrentCalls(t *testing.T) {
	w := world.New()
	h := objects.New(w, &objects.Config{TTL: time.Millisecond})
	done := make(chan struct{})
	var source, callers sync.WaitGroup
	source.Go(func() {
		defer close(done)
		for n := uint64(1); n <= 100; n++ {
			s := world.Stamp{Generation: n, Region: here}
			name := "Region " + strconv.FormatUint(n, 10)
			w.Apply(
				world.SessionStarted{Stamp: s, Agent: self},
				world.RegionEntered{Stamp: s, Name: name},
				world.RegionReady{Stamp: s},
				world.AgentPlaced{Stamp: s, Position: world.Vec3{X: float64(n), Y: 1, Z: 1}},
			)
			for range 20 {
				w.Apply(world.Heard{Stamp: s, ID: other, Channel: world.LocalChat})
			}
			time.Sleep(time.Millisecond)
		}
	})
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for operation := range operations() {
					_, err := h.CallOperation(context.Background(), callOf(operation))
					if err != nil && !errors.Is(err, world.ErrNotReady) {
						t.Error(err)
					}
				}
				v, err := h.CallOperation(context.Background(), callOf("world_location"))
				if err != nil {
					continue
				}
				text := string(v.Value)
				_, after, _ := strings.Cut(text, `"generation":`)
				n, _, _ := strings.Cut(after, ",")
				if !strings.Contains(text, `"Region `+n+`"`) || !strings.Contains(text, `"x":`+n+`,`) {
					t.Errorf("found a mixed answer: %s", text)
				}
			}
		})
	}
	source.Wait()
	callers.Wait()
}

// What answers calls can open no connection (P1).
func TestNoNetwork(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			for _, forbidden := range []string{"net", "os", "syscall"} {
				if path == forbidden || strings.HasPrefix(path, forbidden+"/") {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
	}
}
