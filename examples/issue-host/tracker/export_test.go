package tracker

import (
	"fmt"
	"strings"

	"go.etcd.io/bbolt"
)

// Public returns a Config of a tracker that never had a private project.
func Public(cfg Config) *Config {
	cfg.public = true
	return &cfg
}

// Dump returns all that the file holds.
func (h *Host) Dump() string {
	var b strings.Builder
	var walk func(path string, c *bbolt.Bucket) error
	walk = func(path string, c *bbolt.Bucket) error {
		return c.ForEach(func(k, v []byte) error {
			if v == nil && c.Bucket(k) != nil {
				return walk(fmt.Sprintf("%s/%x", path, k), c.Bucket(k))
			}
			_, err := fmt.Fprintf(&b, "%s/%x %s\n", path, k, v)
			return err
		})
	}
	if err := h.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, c *bbolt.Bucket) error { return walk(string(name), c) })
	}); err != nil {
		panic(err)
	}
	return b.String()
}

// Answers counts the answers that are remembered.
func (h *Host) Answers() (n int) {
	if err := h.db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket(answersBucket).Stats().KeyN
		return nil
	}); err != nil {
		panic(err)
	}
	return n
}

// Reads counts the transactions that only read.
func (h *Host) Reads() int { return int(h.db.Stats().TxN) }
