package world

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// participants is the manager of who was in touch with the agent.
type participants struct {
	last     *simplelru.LRU[contact, int64] // Unix milliseconds
	coverage coverage
	captured *People // nil if changed since
}

// contact is one person on one channel.
type contact struct {
	id      UUID
	channel Channel
}

// Participant is one person on one channel.
type Participant struct {
	ID         UUID
	Channel    Channel
	LastActive time.Time // to the millisecond, UTC
}

// People is who was in touch, as of one capture. It does not change and is
// safe for concurrent use.
type People struct {
	known, truncated bool

	once sync.Once
	list []Participant // in any order until once is done
}

func newParticipants() participants {
	l, err := simplelru.NewLRU[contact, int64](MaxParticipants, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return participants{last: l}
}

func (p *participants) heard(u Heard, agent UUID, at time.Time) outcome {
	if u.ID.IsZero() || u.ID == agent || !u.Channel.valid() {
		return malformed
	}
	if !u.Active.IsZero() {
		at = u.Active
	}
	key, millis := contact{u.ID, u.Channel}, at.UnixMilli()
	if before, ok := p.last.Peek(key); ok {
		millis = max(millis, before)
	}
	p.captured = nil
	if p.last.Add(key, millis) {
		p.coverage.limited = true
		return overflow
	}
	return applied
}

func (c Channel) valid() bool {
	switch c {
	case DirectIM, LocalChat, GroupChat, Conference, InventoryOffer, Lure, Friendship, GroupNotice:
		return true
	}
	return false
}

func (p *participants) cover(u Covered) outcome {
	p.captured = nil
	return p.coverage.cover(u)
}

func (p *participants) capture() *People {
	if p.captured == nil {
		contacts, millis := p.last.Keys(), p.last.Values()
		list := make([]Participant, len(contacts))
		for i, c := range contacts {
			list[i] = Participant{c.id, c.channel, time.UnixMilli(millis[i]).UTC()}
		}
		p.captured = &People{known: p.coverage.known, truncated: p.coverage.truncated(), list: list}
	}
	return p.captured
}

// Recent returns who was in touch, the newest first, then by UUID, then by
// channel; false if that is unknown.
func (p *People) Recent() (Selection[Participant], bool) {
	p.once.Do(func() {
		slices.SortFunc(p.list, func(a, b Participant) int {
			if c := b.LastActive.Compare(a.LastActive); c != 0 {
				return c
			}
			return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Channel, b.Channel))
		})
	})
	return bound(p.list, p.truncated), p.known
}
