package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// checker checks documents that have changed, and those that import them, and
// publishes what it finds. A check of a state that is superseded meanwhile is
// not published. So that typing in a large document does not keep a core
// busy, checks that take long are spaced: the first change after a pause is
// checked at once.
type checker struct {
	server *server
	wake   chan struct{}

	mu    sync.Mutex
	snap  *snapshot
	dirty map[string]bool // paths to check
	gone  []*document     // closed since
	shown map[string]shown
	sound map[string]sound

	// What only run touches.
	uses   map[string][]string // by path: the documents that the last check read
	others closedFaults
}

// shown is what is shown of a state of an open document.
type shown struct {
	*document
	faults []syntax.Diagnostic
}

// shownOf returns the faults that are shown of a document; none if those are
// of another state of it.
func (c *checker) shownOf(d *document) []syntax.Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.shown[d.path]; s.document == d {
		return s.faults
	}
	return nil
}

// sound is the last state of an open document that had no fault.
type sound struct {
	*document
	compiled *idl.Document
}

// soundOf returns the last sound state of a document; its zero value if there
// was none.
func (c *checker) soundOf(path string) sound {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sound[path]
}

// How checks are spaced: by a multiple of what the last one took longer than
// the time between two keystrokes of the fastest typist.
const (
	restFactor = 2
	shortCheck = 25 * time.Millisecond
	maxRest    = 500 * time.Millisecond
)

func newChecker(s *server) *checker {
	return &checker{server: s, wake: make(chan struct{}, 1), dirty: map[string]bool{}, shown: map[string]shown{}, sound: map[string]sound{}, uses: map[string][]string{},
		others: closedFaults{found: map[string]map[string][]diagnostic{}, shown: map[string][]diagnostic{}}}
}

// changed says that a document has changed, or what it stands on.
func (c *checker) changed(snap *snapshot, path string) {
	c.mu.Lock()
	c.snap = snap
	c.dirty[path] = true
	c.mu.Unlock()
	c.notify()
}

// closed says that a document was closed.
func (c *checker) closed(snap *snapshot, d *document) {
	c.mu.Lock()
	c.snap = snap
	c.gone = append(c.gone, d)
	delete(c.shown, d.path)
	delete(c.sound, d.path)
	c.mu.Unlock()
	c.notify()
}

func (c *checker) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run checks until the context ends.
func (c *checker) run(ctx context.Context) {
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		c.giveWay(ctx)
		start := time.Now()
		c.round(ctx)
		rest := min(restFactor*(time.Since(start)-shortCheck), maxRest)
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// How long a check lets what the editor asks go first.
const (
	askedWithin = time.Millisecond // after the change that it asks about
	maxGiveWay  = 20 * time.Millisecond
)

// giveWay waits for the answers that the editor waits for.
func (c *checker) giveWay(ctx context.Context) {
	rest := time.After(askedWithin)
	most := time.After(maxGiveWay)
	for waited := false; !waited || c.server.asked(); {
		select {
		case <-rest:
			waited = true
			rest = nil
		case <-c.server.answered:
		case <-most:
			return
		case <-ctx.Done():
			return
		}
	}
}

// round checks what is dirty: first the documents that have changed, of which
// the author waits to hear, then those that import them.
func (c *checker) round(ctx context.Context) {
	c.mu.Lock()
	snap, dirty, gone := c.snap, c.dirty, c.gone
	c.dirty, c.gone = map[string]bool{}, nil
	c.mu.Unlock()

	touched := maps.Clone(dirty)
	for _, d := range gone {
		touched[d.path] = true
		if snap.docs[d.path] == nil {
			delete(c.uses, d.path)
			c.publish(d.uri, nil, []diagnostic{})
			c.showClosed(snap, d.path, nil)
		}
	}
	done := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(dirty)) {
		if !c.document(ctx, snap, path, touched) {
			return
		}
		done[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(snap.docs)) {
		if !done[path] && slices.ContainsFunc(c.uses[path], func(used string) bool { return touched[used] }) {
			if !c.document(ctx, snap, path, touched) {
				return
			}
		}
	}
}

// document checks one document and publishes what it finds, unless the
// documents have changed meanwhile: then it puts back what there is to check,
// and reports false.
func (c *checker) document(ctx context.Context, snap *snapshot, path string, touched map[string]bool) bool {
	d := snap.docs[path]
	if d == nil {
		return true
	}
	if c.superseded(ctx, snap, touched) {
		return false
	}
	r := snap.check(path)
	var uses []string
	for name := range r.Files {
		if used := r.project.Path(name); used != path {
			uses = append(uses, used)
		}
	}
	c.uses[path] = uses
	list := make([]diagnostic, 0, len(r.faults[path]))
	for i := range r.faults[path] {
		list = append(list, snap.diagnostic(d.uri, d.text, &r.faults[path][i], r))
	}
	if r.err != nil {
		list = append(list, diagnostic{Severity: 1, Source: source, Message: r.err.Error()})
	}
	if c.superseded(ctx, snap, touched) {
		return false
	}
	c.mu.Lock()
	c.shown[path] = shown{d, r.faults[path]}
	if doc := r.document(path); doc != nil {
		c.sound[path] = sound{d, doc}
	}
	c.mu.Unlock()
	c.publish(d.uri, &d.version, list)
	c.opened(d)
	c.showClosed(snap, path, snap.closedFaults(r))
	return true
}

// superseded reports whether there is a newer state or the session ends, and
// puts back what is not yet checked.
func (c *checker) superseded(ctx context.Context, snap *snapshot, touched map[string]bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snap == snap && ctx.Err() == nil {
		return false
	}
	for path := range touched {
		c.dirty[path] = true
	}
	return true
}

// publish shows diagnostics, or takes them away.
func (c *checker) publish(uri string, version *int, list []diagnostic) {
	c.server.conn.Notify(c.server.ctx, "textDocument/publishDiagnostics", publishDiagnosticsParams{URI: uri, Version: version, Diagnostics: list})
}

// source names the server in diagnostics.
const source = "wip"

// diagnostic puts a fault of a document, with some URI and text, into the
// protocol's form.
func (s *snapshot) diagnostic(uri string, t *text, fault *syntax.Diagnostic, r *result) diagnostic {
	out := diagnostic{Range: t.span(fault.Span), Severity: 1, Code: fault.Rule, Source: source, Message: fault.Message}
	if fault.Severity == syntax.Warning {
		out.Severity = 2
	}
	if fault.Rule == lint.RuleDeprecatedType {
		out.Tags = []int{diagnosticDeprecated}
	}
	if fault.Hint != "" {
		out.Message += "\nhint: " + fault.Hint
	}
	for _, rel := range fault.Related {
		at := location{URI: uri}
		if rel.Span.File == fault.Span.File {
			at.Range = t.span(rel.Span)
		} else if v := s.view(r.project.Path(rel.Span.File)); v != nil {
			at = location{URI: v.uri, Range: v.span(rel.Span)}
		} else {
			continue
		}
		out.RelatedInformation = append(out.RelatedInformation, relatedInformation{Location: at, Message: rel.Message})
	}
	return out
}
