package store

import (
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// What is written in one transaction, at most.
const (
	batchJobs    = 4096
	batchEntries = 50_000 // about: a job is not parted
)

// write writes what is queued until the queue is closed.
func (s *Store) write() {
	defer close(s.ended)
	for j := range s.queue {
		batch, waiting := s.batch(j)
		if s.failed() == nil {
			if err := s.commit(batch); err != nil {
				s.fault.Lock()
				s.err = fmt.Errorf("%s: nothing is kept any more: %w", s.path, err)
				s.fault.Unlock()
			}
		}
		for _, done := range waiting {
			close(done)
		}
	}
}

// batch takes what is queued now, beginning with first.
func (s *Store) batch(first job) (batch []job, waiting []chan<- struct{}) {
	entries := 0
	for j, ok := first, true; ok; {
		if j.done != nil {
			waiting = append(waiting, j.done)
		} else {
			batch = append(batch, j)
			entries += len(j.change.Entries) + len(j.change.Gone)
		}
		if len(batch) >= batchJobs || entries >= batchEntries {
			break
		}
		select {
		case j, ok = <-s.queue:
		default:
			ok = false
		}
	}
	return batch, waiting
}

// commit writes a batch, all of it or nothing.
func (s *Store) commit(batch []job) error {
	if len(batch) == 0 {
		return nil
	}
	return s.guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			w := &writer{tx: tx, limits: s.limits, index: s.index}
			for _, j := range batch {
				if err := w.keep(j); err != nil {
					return err
				}
			}
			if w.note != nil {
				s.fault.Lock()
				s.note = w.note
				s.fault.Unlock()
			}
			return nil
		})
	})
}

// guarded makes an error of what a file that has been damaged under our hands
// makes bbolt do.
func (s *Store) guarded(f func() error) (err error) {
	return guarded(s.path, f)
}

func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged(path, fmt.Errorf("found pages that cannot be read (%v)", p))
		}
	}()
	return f()
}
