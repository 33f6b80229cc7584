package grids

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// key names the files about one avatar on one grid. It is made of the login
// URI, not of the grid's name, so that a grid that is given a new address is
// not sent what another grid issued.
func key(g Grid, a *Account) string {
	sum := sha256.Sum256([]byte(strings.ToLower(g.LoginURI + "\x00" + a.First + "\x00" + a.Last)))
	return hex.EncodeToString(sum[:16])
}

func (c *Config) mfaPath(g Grid, a *Account) string { return filepath.Join(c.dir, "mfa", key(g, a)) }

// MFAHash returns what the grid gave the account so that it is not asked for
// a code again; the zero value if there is none.
func (c *Config) MFAHash(g Grid, a *Account) (secret.Of[string], error) {
	b, err := readPrivate(c.mfaPath(g, a))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return secret.Of[string]{}, nil
	case err != nil:
		return secret.Of[string]{}, fmt.Errorf("reading the MFA hash: %w", err)
	case len(b) == 0:
		return secret.Of[string]{}, nil
	}
	return secret.New(string(b)), nil
}

// SetMFAHash keeps what the grid gave, of at most 4 KiB, in a file of the
// user's own.
func (c *Config) SetMFAHash(g Grid, a *Account, hash secret.Of[string]) error {
	if hash.IsZero() || hash.Reveal() == "" {
		return c.ClearMFAHash(g, a)
	}
	content := []byte(hash.Reveal())
	if len(content) > maxSecret {
		return fmt.Errorf("keeping the MFA hash: found %d bytes, expected at most %d", len(content), maxSecret)
	}
	if err := writePrivate(c.mfaPath(g, a), content, false); err != nil {
		return fmt.Errorf("what stands for the one-time code cannot be kept, so that the grid will ask for a code again: %w", unwritable(c.mfaPath(g, a), err))
	}
	return nil
}

// ClearMFAHash forgets the hash, as is due once the grid does not take it any
// more.
func (c *Config) ClearMFAHash(g Grid, a *Account) error {
	if err := os.Remove(c.mfaPath(g, a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting the MFA hash: %w", err)
	}
	return nil
}

// MachineIDs returns the two identifiers that a login has to send, of 32
// hexadecimal digits each. They are made of random bytes that the folder
// keeps, stay the same between runs, and say nothing about the machine.
func (c *Config) MachineIDs() (mac, id0 string, err error) {
	const size = 32 // bytes
	path := filepath.Join(c.dir, "machine-id")
	b, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := make([]byte, size)
		rand.Read(id) // never fails
		err = writePrivate(path, []byte(hex.EncodeToString(id)+"\n"), true)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", "", fmt.Errorf("the ID of this installation, which every login has to send, cannot be kept: %w", unwritable(path, err))
		}
		b, err = readPrivate(path) // if another process was first its ID holds
	}
	if err != nil {
		return "", "", fmt.Errorf("the ID of this installation: %w", err)
	}
	id, err := hex.DecodeString(string(bytes.TrimSpace(b)))
	if err != nil || len(id) != size {
		return "", "", fmt.Errorf("%s: expected %d hexadecimal digits; remove the file to have a new ID", path, 2*size)
	}
	sum := func(label string) string {
		s := md5.Sum(append([]byte(label), id...)) // the form that the protocol wants, not a protection
		return hex.EncodeToString(s[:])
	}
	return sum("mac"), sum("id0"), nil
}

// InventoryCache returns the path of the file where the inventory of an
// account is kept between runs, in the user's cache folder. The file need not
// exist; its folder does after the call.
func (c *Config) InventoryCache(g Grid, a *Account) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for caches is known: %w", err)
	}
	dir := filepath.Join(base, "wipagent", "inventory")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, key(g, a)), nil
}
