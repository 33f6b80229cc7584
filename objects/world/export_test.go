package world

// OnStep has f called before each step of a capture, without any lock held.
func (w *World) OnStep(f func(step string)) { w.step = f }

// StepNames are the names that OnStep's function is called with.
func StepNames() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return append(names, "fence")
}

// GoneAfter and FullCoarse are the rules by which avatars count as gone.
const (
	GoneAfter  = goneAfter
	FullCoarse = fullCoarse
)

// Truncated reports what Search would say, without putting anything in order.
func (b *Belongings) Truncated() bool { return b.truncated }
