package world_test

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// furnish returns what makes every part of a snapshot tell where it is from:
// all numbers and texts are derived from mark.
func furnish(s world.Stamp, mark int) []world.Update {
	name := fmt.Sprint("mark ", mark)
	z := float64(mark)
	return []world.Update{
		world.RegionEntered{Stamp: s, Name: name, WaterHeight: ptr(z)},
		world.RegionReady{Stamp: s},
		world.Covered{Stamp: s, Collection: world.Avatars},
		world.Covered{Stamp: s, Collection: world.Objects},
		world.Covered{Stamp: s, Collection: world.Inventory},
		world.Covered{Stamp: s, Collection: world.Participants},
		world.AgentPlaced{Stamp: s, Position: at(1, 1, z)},
		world.ObjectUpdated{Stamp: s, LocalID: 5, ID: id(mark), PCode: world.PCodePrim, Position: at(1, 1, z), Name: ptr(name)},
		world.ObjectUpdated{Stamp: s, LocalID: 6, ID: id(mark + 1), PCode: world.PCodeAvatar, Position: at(1, 1, z), FirstName: name},
		world.ParcelUpdated{Stamp: s, LocalID: int32(mark), Name: name, Area: 16, Current: true},
		world.TerrainUpdated{Stamp: s, Width: 2, Height: 2, Heights: []float32{float32(z), float32(z), float32(z), float32(z)}},
		world.AgentHealth{Stamp: s, Health: float64(mark % 100)},
	}
}

// checkOneStay fails unless all of s is of the stay that its fence names.
func checkOneStay(t *testing.T, s *world.Snapshot, marks map[world.Fence]int) {
	t.Helper()
	mark, ok := marks[s.Fence]
	if !ok {
		t.Fatalf("found fence %v, which was never announced", s.Fence)
	}
	name, z := fmt.Sprint("mark ", mark), float64(mark)
	objects, _ := s.Scene.Objects(256)
	avatars, _ := s.Scene.Avatars(256)
	switch {
	case s.RegionName != name, s.WaterHeight == nil || *s.WaterHeight != z,
		s.Scene.Agent.Z != z, s.Scene.Observer.Z != z,
		s.Parcel == nil || s.Parcel.Name != name, s.TerrainHeight == nil || *s.TerrainHeight != z,
		s.Health == nil || *s.Health != float64(mark%100),
		len(objects.Items) != 1 || objects.Items[0].ID != id(mark),
		len(avatars.Items) != 1 || avatars.Items[0].Name != name:
		t.Errorf("a snapshot of mark %d is mixed: %+v, %+v, %+v", mark, s, objects.Items, avatars.Items)
	}
}

// Whatever happens to session and region between two steps of a capture, the
// snapshot is wholly of the time before or wholly of the time after, and it
// is not of the time before if that had ended.
func TestForcedChanges(t *testing.T) {
	first := world.Stamp{Generation: 1, Region: regionA}
	changes := []struct {
		name    string
		updates []world.Update
		want    error
	}{
		{"crossing", furnish(world.Stamp{Generation: 1, Region: regionB}, 200), nil},
		{"crossing by way of nowhere", append([]world.Update{world.RegionLeaving{Stamp: first}}, furnish(world.Stamp{Generation: 1, Region: regionB}, 200)...), nil},
		{"there and back", append(furnish(world.Stamp{Generation: 1, Region: regionB}, 300), furnish(first, 200)...), nil},
		{"restart of the region", append([]world.Update{world.RegionLeaving{Stamp: first}}, furnish(first, 200)...), nil},
		{"new session", append([]world.Update{world.SessionStarted{Stamp: world.Stamp{Generation: 2}, Agent: self}}, furnish(world.Stamp{Generation: 2, Region: regionA}, 200)...), nil},
		{"leaving", []world.Update{world.RegionLeaving{Stamp: first}}, world.ErrMoving},
		{"disconnect", []world.Update{world.Disconnected{Stamp: first}}, world.ErrDisconnected},
		{"reconnect", []world.Update{world.Disconnected{Stamp: first}, world.SessionStarted{Stamp: world.Stamp{Generation: 2}}}, world.ErrNotReady},
	}
	for _, change := range changes {
		for _, step := range world.StepNames() {
			t.Run(change.name+" at "+step, func(t *testing.T) {
				w := world.New()
				w.Apply(world.SessionStarted{Stamp: first, Agent: self})
				w.Apply(furnish(first, 100)...)
				marks := map[world.Fence]int{}
				note := func(mark int) {
					if f, err := w.Fence(); err == nil {
						marks[f] = mark
					}
				}
				note(100)
				before, _ := w.Fence()
				var once sync.Once
				w.OnStep(func(name string) {
					if name == step {
						once.Do(func() { w.Apply(change.updates...); note(200) })
					}
				})
				s, err := w.Capture(t.Context())
				if !errors.Is(err, change.want) {
					t.Fatalf("found %v, expected %v", err, change.want)
				}
				if err != nil {
					return
				}
				if s.Fence == before {
					t.Error("the snapshot is of the time before a change that came in the middle of it")
				}
				checkOneStay(t, s, marks)
			})
		}
	}
}

// Updates that change neither session nor region do not disturb a capture.
func TestHarmlessChanges(t *testing.T) {
	w := after(prim(5, 0, at(1, 1, 1)))
	fence, _ := w.Fence()
	steps := 0
	w.OnStep(func(string) {
		steps++
		w.Apply(world.ObjectMoved{Stamp: in(2), LocalID: 5, Position: at(float64(steps), 1, 1)},
			world.RegionEntered{Stamp: in(2), Name: "renamed"})
	})
	if s := capture(t, w); s.Fence != fence || steps != len(world.StepNames()) {
		t.Errorf("found fence %v after %d steps", s.Fence, steps)
	}
}

func TestStraddledUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := after()
		generation := uint64(1)
		w.OnStep(func(name string) {
			if name == "scene" {
				generation++
				time.Sleep(100 * time.Millisecond)
				w.Apply(world.SessionStarted{Stamp: world.Stamp{Generation: generation}, Agent: self})
				w.Apply(furnish(world.Stamp{Generation: generation, Region: regionA}, 200)...)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		s, err := w.Capture(ctx)
		if s != nil || !errors.Is(err, world.ErrStraddled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("found %v, %v", s, err)
		}
		if took := time.Since(began); took < 3*time.Second || took > 3100*time.Millisecond {
			t.Errorf("gave up after %v", took)
		}
		if generation < 10 {
			t.Errorf("tried only %d times", generation)
		}
	})
}

func TestCaptureObservesItsContext(t *testing.T) {
	for _, step := range world.StepNames()[1:] {
		t.Run(step, func(t *testing.T) {
			w := after()
			ctx, cancel := context.WithCancel(t.Context())
			w.OnStep(func(name string) {
				if name == step {
					cancel()
				}
			})
			s, err := w.Capture(ctx)
			if step == "fence" { // complete by then
				if err != nil {
					t.Errorf("found %v", err)
				}
			} else if s != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("found %v, %v", s, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := after().Capture(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), -1)
	defer cancel()
	if _, err := after().Capture(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, world.ErrStraddled) {
		t.Errorf("found %v", err)
	}
}

// Sources, captures and readers at once; the race detector is the judge, and
// no snapshot may be mixed.
func TestConcurrentUse(t *testing.T) {
	w := world.New()
	var mu sync.Mutex
	marks := map[world.Fence]int{}
	var sources, readers sync.WaitGroup
	done := make(chan struct{})
	sources.Go(func() {
		for generation := uint64(1); generation <= 20; generation++ {
			w.Apply(world.SessionStarted{Stamp: world.Stamp{Generation: generation}, Agent: self})
			for _, region := range []world.UUID{regionA, regionB, regionA} {
				stamp := world.Stamp{Generation: generation, Region: region}
				mark := 1000 * int(generation)
				if region == regionB {
					mark += 500
				}
				mu.Lock() // so that no fence is seen before it is noted
				w.Apply(furnish(stamp, mark)...)
				fence, err := w.Fence()
				if err != nil {
					t.Error(err)
				}
				marks[fence] = mark
				mu.Unlock()
				for n := range 20 {
					w.Apply(
						world.ObjectMoved{Stamp: stamp, LocalID: 6, Position: at(float64(n), 1, float64(mark))},
						world.InventoryItem{Stamp: stamp, ID: id(n + 1), Name: "item"},
						world.Heard{Stamp: stamp, ID: id(n + 1), Channel: world.LocalChat},
						world.AvatarNamed{Stamp: stamp, ID: id(n + 1), Name: "somebody"},
					)
				}
			}
		}
	})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				s, err := w.Capture(context.Background())
				if errors.Is(err, world.ErrNotReady) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				s.Belongings.Search("item")
				s.People.Recent()
				mu.Lock()
				checkOneStay(t, s, marks)
				mu.Unlock()
			}
		})
	}
	sources.Wait()
	close(done)
	readers.Wait()
}

// The world has nothing to send with: no package that it consists of can open
// a connection (P1).
func TestNoNetwork(t *testing.T) {
	entries, err := fs.ReadDir(os.DirFS("."), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			switch path, _ := strconv.Unquote(i.Path.Value); {
			case path == "net" || strings.HasPrefix(path, "net/") || path == "os" || strings.HasPrefix(path, "os/") || path == "syscall":
				t.Errorf("%s imports %s", e.Name(), path)
			}
		}
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		if path == "net" || strings.HasPrefix(path, "net/") {
			t.Errorf("the world depends on %s", path)
		}
	}
}
