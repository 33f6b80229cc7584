package remote

import "time"

// How soon a child that has died is started again: at once if it lived, and
// else after a wait that doubles.
const (
	lived       = 10 * time.Second
	firstWait   = 200 * time.Millisecond
	longestWait = 30 * time.Second
)

// restarts bounds how often something is started. Its user locks it. A nil one
// bounds nothing.
type restarts struct {
	failures int       // in a row
	last     time.Time // when it last began; zero if it never did, or its end was counted
	notUntil time.Time
}

// wait returns for how long nothing is to be started. It is asked when nothing
// runs.
func (r *restarts) wait() time.Duration {
	if r == nil {
		return 0
	}
	if !r.last.IsZero() {
		if time.Since(r.last) >= lived {
			r.failures = 0
			r.last = time.Time{}
		} else {
			r.failed()
		}
	}
	return time.Until(r.notUntil)
}

// began says that a start succeeded.
func (r *restarts) began() {
	if r != nil {
		r.last = time.Now()
	}
}

// failed says that a start failed, or that what was started died young.
func (r *restarts) failed() {
	if r == nil {
		return
	}
	r.last = time.Time{}
	r.notUntil = time.Now().Add(min(firstWait<<min(r.failures, 10), longestWait))
	r.failures++
}
