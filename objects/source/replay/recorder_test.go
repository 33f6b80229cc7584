package replay_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/world"
)

// stuck is a writer that does not return until it is let go.
type stuck struct {
	let chan struct{}
	bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.let
	return s.Buffer.Write(b)
}

// checkLines fails unless b is a sound recording of whole lines.
func checkLines(t *testing.T, b []byte, updates int) {
	t.Helper()
	rec, err := replay.Open(t.Context(), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if rec.Updates != updates || rec.CutOff {
		t.Errorf("found %d updates, cut off: %v; expected %d", rec.Updates, rec.CutOff, updates)
	}
}

// A writer that cannot keep up ends the recording; the world never waits.
func TestRecorderBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{let: make(chan struct{})}
		r := replay.NewRecorder(w, &replay.RecorderConfig{MaxQueue: 10_000})
		live := world.New()
		remove := live.Tap(r.Observe)
		defer remove()
		live.Apply(begin(in(0))...)
		began := time.Now()
		for range 1000 {
			live.Apply(health(1, 1))
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the world waited %v", waited)
		}
		accepted, size := r.Progress()
		select {
		case <-r.Done():
			t.Error("done before everything was written")
		default:
		}
		close(w.let)
		<-r.Done()
		if err := r.Close(); !errors.Is(err, replay.ErrBehind) {
			t.Errorf("found %v", err)
		}
		if int64(w.Len()) != size || size > 2*10_000+1000 { // a queue, and what the writer had taken
			t.Errorf("%d bytes were written and %d counted", w.Len(), size)
		}
		checkLines(t, w.Bytes(), accepted)
		r.Observe(health(2, 2))
		if again, _ := r.Progress(); again != accepted {
			t.Error("an update was taken after the end")
		}
	})
}

func TestRecorderFull(t *testing.T) {
	var b bytes.Buffer
	r := replay.NewRecorder(&b, &replay.RecorderConfig{MaxSize: 5000})
	for _, u := range begin(in(0)) {
		r.Observe(u)
	}
	for range 1000 {
		r.Observe(health(1, 1))
	}
	<-r.Done()
	if err := r.Close(); !errors.Is(err, replay.ErrFull) {
		t.Errorf("found %v", err)
	}
	updates, size := r.Progress()
	if int64(b.Len()) != size || size > 5000 || size < 4800 {
		t.Errorf("%d bytes were written and %d counted", b.Len(), size)
	}
	checkLines(t, b.Bytes(), updates)
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestRecorderWriterFails(t *testing.T) {
	full := errors.New("no space left")
	for name, test := range map[string]struct {
		w    io.Writer
		want error
	}{"error": {broken{full}, full}, "short": {short{}, io.ErrShortWrite}} {
		r := replay.NewRecorder(test.w, nil)
		<-r.Done()
		r.Observe(health(1, 1))
		for range 2 {
			if err := r.Close(); !errors.Is(err, test.want) {
				t.Errorf("%s: found %v", name, err)
			}
		}
	}
}

// filling takes in so many bytes and no more.
type filling struct{ room int }

func (f *filling) Write(b []byte) (int, error) {
	n := min(len(b), f.room)
	f.room -= n
	if n < len(b) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// Progress does not count what the writer did not take.
func TestRecorderTellsWhatWasWritten(t *testing.T) {
	updates := begin(in(0))
	whole := record(t, updates...)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	room := len(lines[0]) + len(lines[1]) + len(lines[2])/2
	r := replay.NewRecorder(&filling{room}, nil)
	for _, u := range updates {
		r.Observe(u)
	}
	if err := r.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v", err)
	}
	if n, size := r.Progress(); n != 1 || size != int64(room) {
		t.Errorf("found %d updates and %d bytes, expected 1 and %d", n, size, room)
	}
	none := replay.NewRecorder(&filling{3}, nil)
	none.Close()
	if n, size := none.Progress(); n != 0 || size != 3 {
		t.Errorf("found %d updates and %d bytes of half a header", n, size)
	}
}

// What cannot be written down ends the recording and is no half line.
func TestRecorderRefuses(t *testing.T) {
	far := in(0)
	far.At = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, u := range map[string]world.Update{
		"time": world.RegionReady{Stamp: far},
		"size": world.ObjectNamed{Stamp: in(1), ID: thing, Name: strings.Repeat("x", replay.MaxLine)},
	} {
		var b bytes.Buffer
		r := replay.NewRecorder(&b, nil)
		for _, u := range begin(in(0)) {
			r.Observe(u)
		}
		r.Observe(u)
		if err := r.Close(); err == nil {
			t.Errorf("%s: found no error", name)
		}
		checkLines(t, b.Bytes(), len(begin(in(0))))
	}
}

// A region's whole ground is recorded in pieces that come to the same.
func TestRecorderSplitsTerrain(t *testing.T) {
	ground := world.TerrainUpdated{Stamp: in(0), X: 3, Y: 5, Width: 1000, Height: 1021, Heights: make([]float32, 1000*1021)}
	for i := range ground.Heights {
		ground.Heights[i] = float32(i)
	}
	b := record(t, append(begin(in(0)), ground)...)
	var got []float32
	y := ground.Y
	for i, line := range strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")[1+len(begin(in(0))):] {
		u, err := replay.ParseUpdate([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		piece := u.(world.TerrainUpdated)
		if piece.X != ground.X || piece.Y != y || piece.Width != ground.Width || len(piece.Heights) != piece.Width*piece.Height || len(piece.Heights) > replay.TerrainPiece {
			t.Errorf("piece %d is at %d,%d, %d by %d, of %d samples", i, piece.X, piece.Y, piece.Width, piece.Height, len(piece.Heights))
		}
		y += piece.Height
		got = append(got, piece.Heights...)
	}
	if !slices.Equal(ground.Heights, got) || y != ground.Y+ground.Height {
		t.Errorf("the pieces end at %d and are not the whole", y)
	}
	// One that makes no sense stays as it is.
	for _, bad := range []world.TerrainUpdated{
		{Stamp: in(0), Width: -1, Height: -1 << 20, Heights: make([]float32, 1<<20)},
		{Stamp: in(0), Width: math.MaxInt, Height: math.MaxInt, Heights: make([]float32, 1<<20)},
		{Stamp: in(0), Width: 1 << 10, Height: 1<<10 - 1, Heights: make([]float32, 1<<20)},
	} {
		if got := bytes.Count(record(t, append(begin(in(0)), bad)...), []byte("\n")); got != 1+len(begin(in(0)))+1 {
			t.Errorf("%d by %d: found %d lines", bad.Width, bad.Height, got)
		}
	}
}

// Worlds are recorded from many goroutines; the race detector is the judge.
func TestRecorderConcurrently(t *testing.T) {
	w := world.New()
	var b bytes.Buffer
	r := replay.NewRecorder(&b, nil)
	remove := w.Tap(r.Observe)
	w.Apply(begin(in(0))...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 250 {
				w.Apply(health(1, 1))
				r.Progress()
			}
		})
	}
	all.Wait()
	remove()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	checkLines(t, b.Bytes(), len(begin(in(0)))+1000)
}

// A world that is recorded, with the writing of it.
func BenchmarkRecordedMove(b *testing.B) {
	w := world.New()
	w.Apply(begin(in(0))...)
	w.Apply(world.ObjectUpdated{Stamp: in(0), LocalID: 7, ID: thing, PCode: world.PCodePrim})
	r := replay.NewRecorder(io.Discard, nil)
	defer w.Tap(r.Observe)()
	u := []world.Update{world.ObjectMoved{Stamp: in(1.25), LocalID: 7, Position: world.Vec3{X: 1.5, Y: 2.25, Z: 22.125}, Rotation: world.Quat{W: 1}}}
	b.ReportAllocs()
	for b.Loop() {
		w.Apply(u...)
	}
	r.Close()
}
