package conformance

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

const maxDocument = 256 << 10

// documents looks at every document, and finds the operations.
func (c *checker) documents() {
	c.texts = map[string][]byte{}
	c.compiled = map[string]*idl.Document{}
	c.seen = map[*idl.Operation]bool{}
	for _, e := range c.entries {
		c.learn(e)
	}
}

// learn looks at the documents of an entry, and finds its operations.
func (c *checker) learn(e wip.Entry) {
	if e.Object == nil {
		return
	}
	for _, ref := range e.Object.Interfaces {
		if ref.Document == "" || ref.Interface == "" {
			continue
		}
		d, known := c.compiled[ref.Document]
		if !known {
			d = c.compile(ref.Document)
			c.compiled[ref.Document] = d
		}
		if d == nil {
			continue
		}
		where := "document " + quote(ref.Document)
		if ref.SHA256 != "" {
			c.looked(digests)
			if sum := sha256.Sum256(c.texts[ref.Document]); hex.EncodeToString(sum[:]) != ref.SHA256 {
				c.found(digests, where, "found the digest %x, expected %s as %s says", sum, quote(ref.SHA256), quote(e.Path))
			}
		}
		c.looked(declares)
		i := d.Interface(ref.Interface)
		if i == nil {
			c.found(declares, where, "found no interface %s, which %s names", quote(ref.Interface), quote(e.Path))
			continue
		}
		for _, op := range i.Operations {
			if !c.seen[op] && len(c.ops) < maxSample {
				c.seen[op] = true
				c.ops = append(c.ops, operation{e, op})
			}
		}
	}
}

// compile asks for a document and what it imports, and compiles it. Its result
// is nil if that cannot be done.
func (c *checker) compile(name string) *idl.Document {
	missing := false
	load := func(name string) ([]byte, error) {
		text, ok := c.text(name)
		if !ok {
			missing = true
			return nil, fs.ErrNotExist
		}
		return text, nil
	}
	list, err := idl.Compile(load, name)
	if missing {
		return nil
	}
	c.looked(compiles)
	if err != nil || len(list) == 0 {
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		c.found(compiles, "document "+quote(name), "found %s", strings.ToValidUTF8(cleanLine(first), "?"))
		return nil
	}
	return list[0]
}

// cleanLine keeps what of a diagnostic can be shown.
func cleanLine(s string) string {
	q := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// text returns a document, which is asked for once.
func (c *checker) text(name string) ([]byte, bool) {
	if text, ok := c.texts[name]; ok {
		return text, text != nil
	}
	c.texts[name] = nil
	where := "document " + quote(name)
	text, f, sound := ask(c, where, func(ctx context.Context) ([]byte, error) { return c.host.Document(ctx, name) })
	if !sound {
		return nil, false
	}
	c.looked(served)
	switch {
	case f != nil:
		c.found(served, where, "found a %s failure, expected the text", f.Class)
	case len(text) > maxDocument:
		c.found(served, where, "found %d bytes, expected at most %d", len(text), maxDocument)
	case !utf8.Valid(text):
		c.found(served, where, "found a text that is not UTF-8")
	default:
		if text == nil {
			text = []byte{}
		}
		c.texts[name] = text
		return text, true
	}
	return nil, false
}

// arguments returns records that an operation takes: its examples, or the
// empty record if nothing is required.
func (o operation) arguments() []json.RawMessage {
	sent := o.op.Examples
	if len(sent) == 0 && !slices.ContainsFunc(o.op.Params, (*idl.Param).Required) {
		sent = []json.RawMessage{json.RawMessage("{}")}
	}
	var list []json.RawMessage
	for _, raw := range sent[:min(len(sent), 3)] {
		if args, err := o.op.DecodeArgs(raw); err == nil {
			list = append(list, args.Record)
		}
	}
	return list
}

// readers are the read-only operations that can be called.
func (c *checker) readers() []operation {
	var list []operation
	for _, o := range c.ops {
		if o.op.Risk == idl.ReadOnly && len(o.arguments()) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// operations calls what is read-only, of the entries of the tree and of those that
// results lead to.
func (c *checker) operations() {
	for i := 0; i < len(c.ops); i++ {
		o := c.ops[i]
		if o.op.Risk != idl.ReadOnly {
			continue
		}
		for _, record := range o.arguments() {
			r, f, sound := c.call(o.call(c, record))
			if !sound {
				continue
			}
			c.looked(examples)
			switch {
			case f == nil:
				c.follow(c.shaped(o, r))
			case f.Class == wip.NotFound || f.Class == wip.Stale:
				c.found(examples, o.String(), "found a %s failure (%s), expected an answer", f.Class, quote(f.Message))
			}
		}
	}
}

// follow learns of entries that a result names. That one cannot be had is no
// fault: it may be gone by now.
func (c *checker) follow(paths []string) {
	for _, path := range paths {
		if c.followed == maxFollowed {
			return
		}
		c.followed++
		if e, f, sound := c.fetch(path); sound && f == nil {
			c.learn(e)
		}
	}
}

// shaped looks at a result, and returns the paths of the entries in it.
func (c *checker) shaped(o operation, r wip.Result) []string {
	c.looked(resultType)
	c.looked(resultSize)
	shaped, err := o.op.Shape(r.Value, idl.ShapeOptions{})
	switch {
	case errors.Is(err, idl.ErrTooLarge):
		c.found(resultSize, o.String(), "found a result of %d bytes, expected at most %d", len(r.Value), o.op.MaxOutput)
	case err != nil:
		c.found(resultType, o.String(), "%s", cleanLine(err.Error()))
	default:
		return shaped.Entries
	}
	return nil
}

const nowhere = "no-such-entry-7c1f"

// unknown asks for what does not exist.
func (c *checker) unknown() {
	_, f, sound := ask(c, "document of no name", func(ctx context.Context) ([]byte, error) { return c.host.Document(ctx, nowhere+".wip") })
	if sound {
		c.looked(unknownText)
		if f == nil || f.Class != wip.NotFound {
			c.found(unknownText, "document "+quote(nowhere+".wip"), "found %s, expected a not_found failure", outcome(f))
		}
	}
	var first *wip.Failure
	alike := func(where string, f *wip.Failure, sound bool) {
		if !sound {
			return
		}
		c.looked(unknownEntry)
		switch {
		case f == nil || f.Class != wip.NotFound:
			c.found(unknownEntry, where, "found %s, expected a not_found failure", outcome(f))
		case first == nil:
			first = f
		case f.Message != first.Message || f.Hint != first.Hint || f.RetryAfter != first.RetryAfter:
			c.found(unknownEntry, where, "found the words %s, expected the same as elsewhere, %s: other words tell what is hidden", quote(f.Message+" "+f.Hint), quote(first.Message+" "+first.Hint))
		}
	}
	list := []string{"/" + nowhere, "/" + nowhere + "/below", "/..", "//", nowhere, ""}
	if len(c.entries) > 1 {
		list = append(list, c.entries[1].Path+"/"+nowhere)
	}
	for _, path := range list {
		_, f, sound := c.fetch(path)
		alike("fetch "+quote(path), f, sound)
		_, f, sound = c.fetchTree(path)
		alike("fetch_tree "+quote(path), f, sound)
	}
	readers := c.readers()
	if len(readers) == 0 {
		return
	}
	right := readers[0].call(c, readers[0].arguments()[0])
	for _, change := range []func(*wip.Call) (string, []wip.Class){
		func(w *wip.Call) (string, []wip.Class) {
			w.Path = "/" + nowhere
			return "an entry that does not exist", []wip.Class{wip.NotFound}
		},
		func(w *wip.Call) (string, []wip.Class) {
			w.Object = nowhere
			return "another Object", []wip.Class{wip.NotFound, wip.Stale}
		},
		func(w *wip.Call) (string, []wip.Class) {
			w.Interface = "NoSuchInterface"
			return "an interface that does not exist", []wip.Class{wip.NotFound}
		},
		func(w *wip.Call) (string, []wip.Class) {
			w.Operation = "no_such_operation"
			return "an operation that does not exist", []wip.Class{wip.NotFound}
		},
	} {
		wrong := right
		what, want := change(&wrong)
		_, f, sound := c.call(wrong)
		if !sound {
			continue
		}
		c.looked(unknownCall)
		if f == nil || !slices.Contains(want, f.Class) {
			c.found(unknownCall, "call of "+what, "found %s, expected %s", outcome(f), want[len(want)-1])
		}
	}
}

// outcome says how a request went.
func outcome(f *wip.Failure) string {
	if f == nil {
		return "an answer"
	}
	return fmt.Sprintf("a %s failure", f.Class)
}

// oversize asks for names that are too long for anything.
func (c *checker) oversize() {
	long := strings.Repeat("x", 64<<10)
	for where, request := range map[string]func(context.Context) error{
		"fetch of a path of 64 KiB":      func(ctx context.Context) error { _, err := c.host.Fetch(ctx, c.Caller, "/"+long); return err },
		"fetch_tree of a path of 64 KiB": func(ctx context.Context) error { _, err := c.host.FetchTree(ctx, c.Caller, "/"+long); return err },
		"document of a name of 64 KiB":   func(ctx context.Context) error { _, err := c.host.Document(ctx, long); return err },
		"fetch of 20,000 segments": func(ctx context.Context) error {
			_, err := c.host.Fetch(ctx, c.Caller, strings.Repeat("/x", 20_000))
			return err
		},
	} {
		ctx, done := context.WithTimeout(c.ctx, c.Timeout)
		_, err := attempt(ctx, func(ctx context.Context) (any, error) { return nil, request(ctx) })
		done()
		c.looked(oversize)
		var f *wip.Failure
		if err != nil && (!errors.As(err, &f) || f.Class == wip.Internal) {
			c.found(oversize, where, "found a defect (%T), expected a not_found or domain failure", err)
		}
	}
}

// atOnce makes requests at the same time.
func (c *checker) atOnce() {
	list := c.sample()
	if !c.walked || len(list) == 0 || c.of(fetchAgrees).Status == "fail" || c.of(defects).Status == "fail" {
		return // what is wrong already would be wrong again
	}
	c.looked(concurrent)
	var wg sync.WaitGroup
	for i := range 32 {
		path := list[i%len(list)].Path
		wg.Go(func() {
			ctx, done := context.WithTimeout(c.ctx, c.Timeout)
			defer done()
			e, err := attempt(ctx, func(ctx context.Context) (wip.Entry, error) { return c.host.Fetch(ctx, c.Caller, path) })
			var f *wip.Failure
			c.mu.Lock()
			defer c.mu.Unlock()
			switch {
			case err == nil && e.Path != path:
				c.found(concurrent, "fetch "+quote(path), "found the entry %s among 32 requests at once", quote(e.Path))
			case err != nil && (!errors.As(err, &f) || f.Class != wip.Transient):
				c.found(concurrent, "fetch "+quote(path), "found a failure among 32 requests at once, and none alone")
			}
		})
	}
	wg.Wait()
}

// ending makes requests that end before their time.
func (c *checker) ending() {
	requests := map[string]func(context.Context) error{
		"fetch /":      func(ctx context.Context) error { _, err := c.host.Fetch(ctx, c.Caller, "/"); return err },
		"fetch_tree /": func(ctx context.Context) error { _, err := c.host.FetchTree(ctx, c.Caller, "/"); return err },
	}
	for name := range c.texts {
		requests["document "+quote(name)] = func(ctx context.Context) error { _, err := c.host.Document(ctx, name); return err }
		break
	}
	for _, o := range c.readers() {
		call := o.call(c, o.arguments()[0])
		requests["call "+o.String()] = func(ctx context.Context) error { _, err := c.host.CallOperation(ctx, call); return err }
	}
	for _, where := range slices.Sorted(maps.Keys(requests)) {
		late := func(ctx context.Context) bool {
			_, err := attempt(ctx, func(ctx context.Context) (any, error) { return nil, requests[where](ctx) })
			return errors.Is(err, errLate)
		}
		ctx, done := context.WithTimeout(c.ctx, almostNothing)
		c.looked(deadlines)
		if late(ctx) {
			c.found(deadlines, where, "found no answer %s after the deadline", graceful)
			done()
			continue
		}
		done()
		ctx, done = context.WithCancel(c.ctx)
		stop := time.AfterFunc(almostNothing, done)
		c.looked(cancellation)
		if late(ctx) {
			c.found(cancellation, where, "found no answer %s after the request was cancelled", graceful)
		}
		stop.Stop()
		done()
	}
}

// mutating tries what is not read-only: without effect, and for real only if
// that is allowed.
func (c *checker) mutating() {
	for _, o := range c.ops {
		if o.op.Risk == idl.ReadOnly || len(o.arguments()) == 0 {
			continue
		}
		call := o.call(c, o.arguments()[0])
		if o.op.DryRun {
			c.dry(o, call)
		}
		if c.Mutate {
			c.twice(o, call)
		}
	}
}

func (c *checker) dry(o operation, call wip.Call) {
	before, ok := c.still()
	if !ok {
		return
	}
	call.DryRun, call.IdempotencyKey = true, rand.Text()
	r, f, sound := c.call(call)
	if !sound {
		return
	}
	if f == nil {
		c.shaped(o, r)
	}
	after, g, sound := c.fetchTree("/")
	if !sound || g != nil {
		return
	}
	c.looked(dryRun)
	if !reflect.DeepEqual(before, listOf(&after)) {
		c.found(dryRun, o.String(), "found another tree after the dry run")
	}
}

// still returns the tree's entries, if they do not change by themselves.
func (c *checker) still() ([]wip.Entry, bool) {
	if !c.walked {
		return nil, false
	}
	one, f, sound := c.fetchTree("/")
	if !sound || f != nil {
		return nil, false
	}
	two, f, sound := c.fetchTree("/")
	if !sound || f != nil {
		return nil, false
	}
	list := listOf(&one)
	return list, reflect.DeepEqual(list, listOf(&two))
}

func (c *checker) twice(o operation, call wip.Call) {
	call.IdempotencyKey = rand.Text()
	first, f, sound := c.call(call)
	if !sound || f != nil {
		return
	}
	second, f, sound := c.call(call)
	if !sound {
		return
	}
	c.looked(idempotencyKey)
	if f != nil {
		c.found(idempotencyKey, o.String(), "found a %s failure, expected the first call's result", f.Class)
	} else if !sameJSON(first.Value, second.Value) {
		c.found(idempotencyKey, o.String(), "found two results of one key")
	}
	c.shaped(o, first)
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
