package adapter

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl/cleantext"
)

// A model that fails tends to send the same call again, or two in turn. The second
// and third time it is told more, from the fourth time on to stop. What is kept of
// a call is a hash; what it says is computed as the first time, from what the
// caller may know, so that what is hidden stays like what is absent (T9).
const (
	explainAt = 2 // times that a call was sent
	stopAt    = 4
	// maxCallers bounds the callers of whom something is remembered, and
	// maxFailures the calls of each.
	maxCallers  = 1024
	maxFailures = 8
	// forgetAfter is how long a call is remembered that is not sent again.
	forgetAfter = 10 * time.Minute
)

// repeats remembers the last failing calls of each caller. It is safe for
// concurrent use.
type repeats struct {
	callers *lru.Cache[string, *failures]
}

// failures are the calls of one caller that failed last, the latest at the end.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// failure is a call that failed, and how often it did.
type failure struct {
	call   [sha256.Size]byte
	times  int
	class  client.Class
	defect bool
	last   time.Time
}

// barred reports whether the call must not be made again for now: the operator
// refused it, or it calls what is broken.
func (f *failure) barred() bool { return f.class == client.Refused || f.defect }

func newRepeats() *repeats {
	callers, err := lru.New[string, *failures](maxCallers)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &repeats{callers}
}

// attempt is a call that is being made.
type attempt struct {
	of   *failures // of the caller
	call func() [sha256.Size]byte
}

func (r *repeats) begin(p *client.Principal, tool string, raw json.RawMessage) attempt {
	who := p.Audience.String() + " " + p.ID
	of, ok := r.callers.Get(who)
	if !ok {
		of = &failures{}
		if other, ok, _ := r.callers.PeekOrAdd(who, of); ok {
			of = other
		}
	}
	return attempt{of, sync.OnceValue(func() [sha256.Size]byte {
		return sha256.Sum256(append(append([]byte(tool), 0), meaning(raw)...))
	})}
}

// succeeded forgets that the call failed before, and what is barred: things have
// changed.
func (a attempt) succeeded() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.of.list = slices.DeleteFunc(a.of.list, func(f failure) bool { return f.barred() || f.call == a.call() })
}

// recall returns a copy of what is remembered of the call, nothing if it has not
// failed lately.
func (a attempt) recall() failure {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.of.list = slices.DeleteFunc(a.of.list, func(f failure) bool { return time.Since(f.last) > forgetAfter })
	if len(a.of.list) > 0 { // most calls follow no failure
		if i := slices.IndexFunc(a.of.list, func(f failure) bool { return f.call == a.call() }); i >= 0 {
			return a.of.list[i]
		}
	}
	return failure{}
}

// stop returns the error of a call that is not to be made again: one that the
// operator would be asked about again, or that calls what is broken. Others are
// made, since what they ask for may have come to be.
func (a attempt) stop(c *toolCall, t tool) error {
	before := a.recall()
	if before.times < stopAt-1 || !before.barred() {
		return nil
	}
	e := &client.Error{Class: before.class, Message: "the operation was not approved"}
	if before.defect {
		e.Message = "Tool temporarily unavailable; do not retry this tool"
	}
	return c.client.Misread(c.ctx, c.principal, t.verb(), c.id, e)
}

// failed counts a failure and returns what the model is told of it. always says
// that the same call fails alike each time, whatever its class.
func (a attempt) failed(c *toolCall, t tool, e *client.Error, always bool, write func(json.RawMessage) json.RawMessage) *client.Error {
	told := *e
	if told.Corrected != nil {
		told.Corrected = write(told.Corrected)
	}
	times := a.count(e, always)
	switch {
	case times >= stopAt:
		told.Message = fmt.Sprintf("stop: this call was sent %d times and fails every time; %s", times, e.Message)
		told.Hint = "do not send it again: " + instead(&told)
	case times >= explainAt:
		told.Message += "; you sent this very call before"
		told.Hint = explained(c, t, e, write)
	}
	return &told
}

// count returns how often the call has failed, 0 if that says nothing.
func (a attempt) count(e *client.Error, always bool) int {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	f := failure{call: a.call()}
	if i := slices.IndexFunc(a.of.list, func(f failure) bool { return f.call == a.call() }); i >= 0 {
		f = a.of.list[i]
		a.of.list = slices.Delete(a.of.list, i, i+1)
	}
	switch e.Class {
	case client.BadArguments, client.NotFound, client.Refused:
	default: // of a defect that is not called again nothing new is known
		if !always && !e.Defect() && !(f.defect && f.class == e.Class) {
			return 0
		}
	}
	f.times++
	f.class, f.defect, f.last = e.Class, e.Class == client.Unavailable, time.Now()
	if len(a.of.list) == maxFailures {
		a.of.list = slices.Delete(a.of.list, 0, 1)
	}
	a.of.list = append(a.of.list, f)
	return f.times
}

// instead says what to do in place of a call that fails every time.
func instead(e *client.Error) string {
	if e.Corrected != nil {
		return "send corrected_call as it is, or do something else"
	}
	switch e.Class {
	case client.NotFound:
		return "nothing of this name is there for you; do something else, or say that it cannot be had"
	case client.Refused:
		return "only the operator can allow it; tell who asked you"
	case client.Domain:
		return "it asks for more than one call may; do less at once"
	case client.Unavailable:
		return "do without this tool, or say that it does not work"
	}
	return "do something else, or ask who sent you for what is missing"
}

// explained is the hint to a call that was sent again: all there is to know for
// making a better one.
func explained(c *toolCall, t tool, e *client.Error, write func(json.RawMessage) json.RawMessage) string {
	var parts []string
	if e.Hint != "" {
		parts = append(parts, e.Hint)
	}
	switch e.Class {
	case client.BadArguments:
		if example := t.example(c, e); example != nil {
			parts = append(parts, "a record that is understood: "+string(write(example)))
		}
	case client.NotFound:
		parts = append(parts, "nothing has changed since; what there is: "+listing(c))
	}
	if e.Corrected != nil {
		parts = append(parts, "send corrected_call as it is")
	} else {
		parts = append(parts, "sending the same again changes nothing")
	}
	return strings.Join(parts, "; ")
}

// listing names the first entries that the caller may discover, and their
// operations.
func listing(c *toolCall) string {
	const most, operations = 8, 6
	var b strings.Builder
	paths, last, shown := 0, "", 0
	for _, l := range c.client.Catalog(c.principal) {
		if l.Node.Path != last {
			last, shown = l.Node.Path, 0
			if paths++; paths > most {
				b.WriteString("; and more")
				break
			}
			if paths > 1 {
				b.WriteString("; ")
			}
			b.WriteString(l.Node.Path + ":")
		}
		switch shown++; {
		case shown <= operations:
			b.WriteString(" " + l.Operation.Name)
		case shown == operations+1:
			b.WriteString(" and more")
		}
	}
	clean, _ := cleantext.Clean(b.String(), 2048)
	return cmp.Or(clean, "nothing")
}

// meaning writes a record so that two that mean the same come out alike: without
// white space, members sorted, numbers and strings in one form. What is not
// JSON, or too large to look into, means what it is.
func meaning(raw json.RawMessage) []byte {
	if !readable(string(raw)) {
		return raw
	}
	return appendMeaning(nil, gjson.ParseBytes(raw))
}

func appendMeaning(to []byte, v gjson.Result) []byte {
	switch {
	case v.IsObject():
		var members []string
		v.ForEach(func(key, value gjson.Result) bool {
			members = append(members, string(appendMeaning(append(strconv.AppendQuote(nil, key.Str), ':'), value)))
			return true
		})
		slices.Sort(members)
		return append(append(append(to, '{'), strings.Join(members, ",")...), '}')
	case v.IsArray():
		to = append(to, '[')
		for _, element := range v.Array() {
			to = append(appendMeaning(to, element), ',')
		}
		return append(to, ']')
	case v.Type == gjson.String:
		return strconv.AppendQuote(to, v.Str)
	case v.Type == gjson.Number && math.Abs(v.Num) < 1<<53: // beyond, two numbers may read alike
		return strconv.AppendFloat(to, v.Num, 'g', -1, 64)
	}
	return append(to, v.Raw...)
}
