package audit

import (
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// Refusal is a request that a server refused before it could be anybody's call.
// Nothing in it is the request's own words.
type Refusal struct {
	Reason    string // a word of the server's, of which it has few, such as "token"
	Remote    string // the IP address that it came from, a proxy's if there is one; empty if that is not known
	Principal string // whose it was; empty unless that is known
}

// RefusalObserver is an Observer that is told of each refusal too.
type RefusalObserver interface {
	Observer
	ObserveRefusal(reason string)
}

// How many refusals of one reason are written in a time; of the others only their
// number is, when it is over.
const (
	refusalsEach   = 5
	refusalsWithin = 10 * time.Second
)

// refusals are those of the last while, by reason.
type refusals struct {
	mu sync.Mutex
	of map[string]*refused
}

type refused struct {
	said, more int
	over       *time.Timer
}

// Refuse writes that a request was refused: of many for one reason the first few,
// and then how many more there were, so that a log is not filled by whoever
// guesses tokens. Observers are told of each.
func (l *Log) Refuse(r Refusal) {
	if l == nil {
		return
	}
	for _, o := range l.observers {
		if o, ok := o.(RefusalObserver); ok {
			o.ObserveRefusal(r.Reason)
		}
	}
	if l.out == nil || !l.refusals.take(r.Reason, func() { l.tellMore(r.Reason) }) {
		return
	}
	f := logrus.Fields{"reason": r.Reason}
	if r.Remote != "" {
		f["remote"] = r.Remote
	}
	if r.Principal != "" {
		f["principal"] = r.Principal
	}
	l.out.WithFields(f).Warn("refused")
}

// Flush writes how many refusals have not been told of yet: for when nothing is
// refused any more.
func (l *Log) Flush() {
	if l == nil {
		return
	}
	l.refusals.mu.Lock()
	var reasons []string
	for reason, of := range l.refusals.of {
		of.over.Stop()
		reasons = append(reasons, reason)
	}
	l.refusals.mu.Unlock()
	for _, reason := range reasons {
		l.tellMore(reason)
	}
}

func (l *Log) tellMore(reason string) {
	if more := l.refusals.end(reason); more > 0 {
		l.out.WithFields(logrus.Fields{"reason": reason, "more": more}).Warn("refused")
	}
}

// take counts a refusal, and reports whether it is to be written. What is to be
// done when the time is over is done once for all that are counted in it.
func (s *refusals) take(reason string, over func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of[reason]
	if of == nil {
		if s.of == nil {
			s.of = map[string]*refused{}
		}
		of = &refused{over: time.AfterFunc(refusalsWithin, over)}
		s.of[reason] = of
	}
	if of.said == refusalsEach {
		of.more++
		return false
	}
	of.said++
	return true
}

// end forgets a reason, and returns how many refusals of it were not written.
func (s *refusals) end(reason string) (more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.of[reason]; of != nil {
		more = of.more
		delete(s.of, reason)
	}
	return more
}
