package world

import "slices"

// tap is one listener to what is applied.
type tap struct{ fn func(Update) }

// Tap has fn see every update that is about the present session and region, in
// order, each with a complete stamp: At is never zero. What is dropped as stale
// is not seen; what is dropped otherwise is, since a part of it may have taken
// effect, and applying it again does the same. So applying all that fn saw
// since before SessionStarted makes an equal world.
//
// Fn is called with the world locked: it must be quick, must not call the
// world, and must not keep a slice or pointer of the update. It is called no
// more once remove, which may be called repeatedly, has returned.
func (w *World) Tap(fn func(Update)) (remove func()) {
	t := &tap{fn}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taps = append(w.taps, t)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.taps = slices.DeleteFunc(w.taps, func(other *tap) bool { return other == t })
	}
}

// tell has all taps see an update whose complete stamp is s.
func (w *World) tell(u Update, s Stamp) {
	if u.stamp().At.IsZero() {
		u = u.restamped(s)
	}
	for _, t := range w.taps {
		t.fn(u)
	}
}
