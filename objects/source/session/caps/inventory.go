package caps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// Bounds of a crawl.
const (
	maxFolders  = 32_768
	maxItems    = 262_144
	maxName     = 1 << 10  // bytes of a name; grids' own bound is 63 characters
	maxContents = 32 << 20 // bytes of one answer
)

// How a crawl asks.
const (
	batchSize    = 16 // folders in a request
	parallel     = 3  // requests at a time
	perSecond    = 8  // requests
	fetchTimeout = 45 * time.Second
	fetchTries   = 4
	// fetchFailures in a row, batches that were split included, end a crawl:
	// the service is out of order as a whole.
	fetchFailures = 12
)

// Folder is one folder of the inventory, as the login or the folder above
// lists it.
type Folder struct {
	ID, ParentID world.UUID
	Name         string
	// Type is what the grid uses it for: 8 the root, 3 landmarks, …; -1 for
	// an ordinary folder.
	Type int
	// Version grows with each change of what lies in it; 0 or less is unknown.
	Version int
}

// Item is one item of the inventory. Neither who owns it nor what may be done
// with it is even read.
type Item struct {
	ID, FolderID world.UUID
	Name         string
	// AssetType is the grid's number: 0 texture, 3 landmark, 24 link, …; -1
	// is unknown.
	AssetType int
	Created   int64 // Unix seconds; 0 or less is unknown
}

// Contents is what lies in a folder.
type Contents struct {
	Folder  world.UUID
	Version int // 0 or less is unknown
	Folders []Folder
	Items   []Item
}

// Crawl fetches all of an inventory by the capability
// FetchInventoryDescendents2. It is not changed by Run.
type Crawl struct {
	Client *http.Client
	URL    secret.Of[string]
	Owner  world.UUID
	// Cache may be nil: then all is fetched.
	Cache *Cache
	// Progress, if not nil, is told after each folder how many are done, out
	// of how many that are known so far.
	Progress func(done, total int)
	// Report, if not nil, is told what went wrong without ending the crawl.
	Report func(error)
}

// Run crawls what lies in the skeleton's folders, and in folders below them
// that the skeleton does not have. It calls emit, Progress and Report from
// the caller's goroutine, emit once for each folder that it could read. The
// result missing counts folders of which the contents are unknown, or known in
// part only; emit has what is known. An error means that the crawl broke off:
// ctx's, ErrGone where the capability does not exist any more, or that of the
// last request where nothing answers. What was fetched goes to the cache in
// any case. At most 32,768 folders and 262,144 items are fetched; the rest
// counts as missing.
func (c *Crawl) Run(ctx context.Context, skeleton []Folder, emit func(Contents)) (missing int, err error) {
	return c.run(ctx, skeleton, emit, maxItems)
}

// run is Run with a bound of items.
func (c *Crawl) run(ctx context.Context, skeleton []Folder, emit func(Contents), mostItems int) (missing int, err error) {
	cache := c.Cache
	cached, err := cache.load(c.Owner)
	if err != nil {
		c.report(err)
	}
	if errors.Is(err, errForeign) {
		cache = nil
	}
	r := &crawl{
		Crawl: c, emit: emit, cached: cached, keep: cache != nil, kept: map[world.UUID]Contents{}, known: map[world.UUID]int{},
		service: capability{FetchInventoryDescendents2, c.URL}, limit: rate.NewLimiter(perSecond, perSecond), mostItems: mostItems,
	}
	for _, f := range skeleton {
		r.found(f)
	}
	err = r.work(ctx)
	missing = r.missing + len(r.known) - r.done
	if err != nil {
		// What was not reached this time is still worth having next time.
		for id, contents := range r.cached {
			if _, ok := r.kept[id]; !ok {
				r.kept[id] = contents
			}
		}
	}
	if r.fresh || len(r.kept) != len(cached) {
		if err := cache.save(c.Owner, r.kept); err != nil {
			c.report(err)
		}
	}
	return missing, err
}

func (c *Crawl) report(err error) {
	if c.Report != nil {
		c.Report(err)
	}
}

// crawl is the state of one Run, used from one goroutine but for fetch.
type crawl struct {
	*Crawl
	emit    func(Contents)
	service capability
	limit   *rate.Limiter

	cached map[world.UUID]Contents // what the cache held
	keep   bool                    // there is a cache
	kept   map[world.UUID]Contents // what it will hold
	fresh  bool                    // kept has what cached has not

	known     map[world.UUID]int // versions of all folders found
	queue     []world.UUID       // folders to fetch
	halves    [][]world.UUID     // batches that failed, split
	done      int                // folders emitted or given up
	emitted   int                // folders
	missing   int                // folders given up, or known in part, or beyond the bound
	items     int                // emitted
	mostItems int
	failed    int   // requests in a row
	last      error // of the last request that failed
}

// answer is what became of one batch.
type answer struct {
	batch    []world.UUID
	contents []Contents
	partial  map[world.UUID]bool // known in part
	bad      map[world.UUID]bool // refused by the grid
	err      error
}

// found takes a folder on, once.
func (r *crawl) found(f Folder) {
	if _, ok := r.known[f.ID]; ok || f.ID.IsZero() {
		return
	}
	if len(r.known) == maxFolders {
		r.missing++
		return
	}
	r.known[f.ID] = f.Version
	r.queue = append(r.queue, f.ID)
}

// work works until no folder is left, or no further one can be had.
func (r *crawl) work(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, parallel)
	flying := 0
	defer func() {
		cancel()
		for ; flying > 0; flying-- {
			<-answers
		}
	}()
	for {
		for flying < parallel && r.items < r.mostItems {
			batch := r.next()
			if len(batch) == 0 {
				break
			}
			flying++
			go func() { answers <- r.fetch(ctx, batch) }()
		}
		if flying == 0 {
			if r.emitted == 0 {
				return r.last
			}
			return nil
		}
		a := <-answers
		flying--
		if err := r.take(ctx, a); err != nil {
			return err
		}
	}
}

// next returns the next folders to fetch; those on the way that the cache has
// are done with.
func (r *crawl) next() []world.UUID {
	if n := len(r.halves); n > 0 {
		batch := r.halves[n-1]
		r.halves = r.halves[:n-1]
		return batch
	}
	var batch []world.UUID
	for len(r.queue) > 0 && len(batch) < batchSize && r.items < r.mostItems {
		id := r.queue[0]
		r.queue = r.queue[1:]
		if c, ok := r.cached[id]; ok && c.Version == r.known[id] {
			r.kept[id] = c
			r.finish(c)
			continue
		}
		batch = append(batch, id)
	}
	return batch
}

// finish emits a folder's contents.
func (r *crawl) finish(c Contents) {
	r.items += len(c.Items)
	for _, f := range c.Folders {
		r.found(f)
	}
	r.emit(c)
	r.emitted++
	r.step()
}

// step counts a folder as done with.
func (r *crawl) step() {
	r.done++
	if r.Progress != nil {
		r.Progress(r.done, len(r.known))
	}
}

// take acts on an answer. Its error ends the crawl.
func (r *crawl) take(ctx context.Context, a answer) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(a.err, ErrGone):
		return a.err
	case a.err != nil:
		r.last = a.err
		if r.failed++; r.failed == fetchFailures {
			return a.err
		}
		if n := len(a.batch); n > 1 {
			// One folder may be what the grid chokes on.
			r.halves = append(r.halves, a.batch[n/2:], a.batch[:n/2])
			return nil
		}
		r.report(fmt.Errorf("found no contents of an inventory folder: %w", a.err))
		r.missing++
		r.step()
		return nil
	}
	r.failed = 0
	for _, c := range a.contents {
		switch {
		case a.partial[c.Folder]:
			r.missing++
		case r.keep && c.Version > 0:
			r.kept[c.Folder] = c
			r.fresh = true
		}
		r.finish(c)
	}
	for range a.bad {
		r.missing++
		r.step()
	}
	return nil
}

// fetch asks for a batch of folders. It is safe for concurrent use.
func (r *crawl) fetch(ctx context.Context, batch []world.UUID) answer {
	body := descendentsRequest(r.Owner, batch)
	a, err := backoff.Retry(ctx, func() (answer, error) {
		if err := r.limit.Wait(ctx); err != nil { // ctx ends, or would before our turn
			return answer{}, backoff.Permanent(context.DeadlineExceeded)
		}
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		v, err := r.service.ask(r.service.post(ctx, r.Client, body, maxContents))
		if err != nil {
			return answer{}, err
		}
		a, err := readDescendents(v, batch)
		if err != nil {
			return answer{}, backoff.Permanent(r.service.errorf("%w", err))
		}
		return a, nil
	}, backoff.WithBackOff(newPauses()), backoff.WithMaxTries(fetchTries))
	a.batch, a.err = batch, err
	return a
}

// newPauses are those between attempts.
func newPauses() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: maxWait,
	}
}

// ask reads the answer to a request as backoff.Retry wants it: errors are
// permanent where the same request would fail again.
func (c capability) ask(a *response, err error) (llsd.Value, error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded): // less may come in time
		return llsd.Value{}, backoff.Permanent(err)
	case err != nil:
		return llsd.Value{}, err
	case a.status >= 500 || a.status == http.StatusTooManyRequests || a.status == statusClientClosed:
		err := c.statusError(a.status)
		if a.retryAfter > 0 {
			err = &laterError{err, backoff.RetryAfterError{Duration: min(a.retryAfter, maxWait)}}
		}
		return llsd.Value{}, err
	case a.status != http.StatusOK:
		return llsd.Value{}, backoff.Permanent(c.statusError(a.status))
	}
	v, err := llsd.Parse(a.body)
	if err != nil {
		return llsd.Value{}, backoff.Permanent(c.errorf("%w", err))
	}
	return v, nil
}
