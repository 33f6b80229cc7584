package gridtest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// link is one direction between a client and a simulator. Chance on it depends
// on the grid's seed and on what went over it before, and on nothing else.
type link struct {
	grid *Grid
	rng  *rand.Rand
}

func (g *Grid) newLink(number uint64) *link {
	return &link{g, rand.New(rand.NewPCG(g.cfg.Seed, number+2))}
}

// chance is true with probability p. Chance takes no part where p is 0.
func (l *link) chance(p float64) bool { return p > 0 && l.rng.Float64() < p }

// upTo returns a time from 0 to d.
func (l *link) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(l.rng.Int64N(int64(d)))
}

// carry takes a datagram over the link: arrive is called once, later, more
// than once or never. g.mu is held, here and there.
func (l *link) carry(arrive func()) {
	f := &l.grid.faults
	if f.HalfOpen || f.burst(time.Now()) || l.chance(f.Loss) {
		return
	}
	delay := f.Delay + l.upTo(f.Jitter)
	if l.chance(f.Reorder) {
		delay += l.upTo(300 * time.Millisecond)
	}
	if l.chance(f.Duplicate) {
		l.grid.after(delay+l.upTo(time.Second), arrive)
	}
	if delay == 0 {
		arrive()
		return
	}
	l.grid.after(delay, arrive)
}

// burst reports whether everything is being lost.
func (f *Faults) burst(now time.Time) bool {
	return f.BurstEvery > 0 && now.UnixNano()%int64(f.BurstEvery) >= int64(f.BurstEvery-f.BurstLength)
}

// take returns and removes the first of a list of statuses; 0 if there is
// none.
func take(list *[]int) int {
	if len(*list) == 0 {
		return 0
	}
	first := (*list)[0]
	*list = slices.Delete(*list, 0, 1)
	return first
}

// travel holds an HTTP request or answer up as long as faults say. It reports
// false if the request was given up or the grid closed meanwhile.
func (g *Grid) travel(req *http.Request) bool {
	g.mu.Lock()
	delay, halfOpen := g.faults.Delay, g.faults.HalfOpen
	g.mu.Unlock()
	if halfOpen {
		select {
		case <-req.Context().Done():
		case <-g.done:
		}
		return false
	}
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-req.Context().Done():
	case <-g.done:
	}
	return false
}
