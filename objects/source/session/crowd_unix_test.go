//go:build unix

package session_test

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
)

// BenchmarkCrowd keeps 100 sessions on a fake grid over real sockets for some
// seconds and reports what one costs; the fake grid is in the same process and
// counted, too.
func BenchmarkCrowd(b *testing.B) {
	const n = 100
	before := heap()
	g := gridtest.New(crowd(n))
	defer g.Close()
	uri := g.Serve(b)
	bots := startCrowd(b, g, n, func(c *session.Config) { real(c); c.LoginURI = uri })
	for _, bot := range bots {
		bot.settled()
	}
	used, began := processTime(), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	share := float64(processTime()-used) / float64(time.Since(began))
	b.ReportMetric(100*share/n, "%core/session")
	b.ReportMetric(float64(heap()-before)/n/1024, "KiB/session")
	var wg sync.WaitGroup
	for _, bot := range bots {
		wg.Go(func() { bot.stop() })
	}
	wg.Wait()
}

func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
