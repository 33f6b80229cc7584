package session_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// real lets a session use real sockets.
func real(c *session.Config) { c.Transport, c.Listen = nil, nil }

// openFiles counts the process's open files and sockets; -1 where that cannot
// be told.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(list)
}

// TestLoopback: over real sockets, with losses, a session comes up and leaves
// no goroutine, socket or file behind.
func TestLoopback(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, leaks)
	before := openFiles()
	t.Run("session", func(t *testing.T) {
		g := gridtest.New(village())
		defer g.Close()
		uri := g.Serve(t)
		g.SetFaults(gridtest.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond})
		b := start(t, g, func(c *session.Config) { real(c); c.LoginURI = uri })
		b.settled()
		if s := b.snapshot(); s.RegionName != "Alpha" || len(objectIDs(t, s, 256)) != 2 {
			t.Errorf("found %q", s.RegionName)
		}
		b.close()
	})
	if after := openFiles(); after > before {
		t.Errorf("found %d open files, %d before", after, before)
	}
}

// TestSoak keeps a session under faults for a while of real time, which
// WIPAGENT_SOAK sets ("20m"), and looks whether its memory stays flat.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("WIPAGENT_SOAK"))
	if err != nil {
		t.Skip("WIPAGENT_SOAK is not set to a duration such as 20m")
	}
	leaks := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, leaks)
	g := gridtest.New(village())
	defer g.Close()
	uri := g.Serve(t)
	g.SetFaults(gridtest.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Delay: 50 * time.Millisecond, Jitter: 200 * time.Millisecond, WrongAcks: 0.02, Truncate: 0.02, Overlong: 0.02})
	b := start(t, g, func(c *session.Config) { real(c); c.LoginURI = uri })
	b.settled()
	alpha := g.Region("Alpha")
	me := g.Agent("Test User")
	var early, late []uint64
	end := time.Now().Add(length)
	for n := 0; time.Now().Before(end); n++ {
		alpha.Say(id(0xe1), "hello")
		alpha.Move(id(0xe1), world.Vec3{X: 100 + float64(n%20), Y: 120, Z: 22})
		alpha.Put(gridtest.Object{Object: message.Object{ID: id(byte(n % 64)), Position: world.Vec3{X: float64(n % 256), Y: 10, Z: 22}, Scale: world.Vec3{X: 1, Y: 1, Z: 1}}})
		if n%600 == 599 {
			to := []string{"Beta", "Alpha"}[n/600%2]
			g.Teleport(me, to, world.Vec3{X: 100, Y: 120, Z: 22})
		}
		if n%50 == 0 {
			g.ForgetSent()
			if _, err := b.world.Capture(context.Background()); err != nil {
				t.Logf("after %v: %v", length-time.Until(end), err)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if at := length - time.Until(end); at < length/4 {
				early = append(early, m.HeapInuse)
			} else if at > length*3/4 {
				late = append(late, m.HeapInuse)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("heap in use: %d KiB early, %d KiB late, %d KiB resident, %d goroutines, generation %d, notices %d",
		mean(early)>>10, mean(late)>>10, resident(), runtime.NumGoroutine(), b.world.Generation(), len(b.kinds()))
	if mean(late) > mean(early)*3/2+4<<20 {
		t.Errorf("found the heap to grow from %d to %d bytes", mean(early), mean(late))
	}
	b.close()
}

func mean(list []uint64) uint64 {
	sum := uint64(0)
	for _, n := range list {
		sum += n
	}
	return sum / uint64(max(len(list), 1))
}

// resident returns the process's resident memory in KiB; 0 if unknown.
func resident() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return n
		}
	}
	return 0
}
