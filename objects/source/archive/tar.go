package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// limits bounds what an archive may make the loader do.
type limits struct {
	entries int   // tar entries
	total   int64 // unpacked bytes
	// A file that unpacks to more than bomb bytes must not be more than ratio
	// times its own size: scenery and assets are never packed that well.
	bomb  int64
	ratio int64
	texts int // bytes of text kept
}

var defaults = limits{
	entries: 4_000_000,
	total:   64 << 30,
	bomb:    512 << 20,
	ratio:   200,
	texts:   maxTexts,
}

const (
	maxName = 4 << 10  // bytes of an entry's name that a warning keeps
	maxPath = 64 << 10 // bytes of an entry's name
	maxXML  = 64 << 20 // bytes of one XML entry
)

// entry is one file or directory of an archive. Its content can be read until
// the next one is asked for.
type entry struct {
	name string // without "./" at its start; a directory's ends in "/"
	dir  bool
	size int64
	content
}

// content remembers why reading stopped, so that damage to the file is told
// from damage inside an entry: the former ends the load.
type content struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// entries calls visit for every file and directory of a tar stream, which may
// be compressed by gzip.
func (l *loader) entries(ctx context.Context, file string, src io.Reader, visit func(*entry) error) error {
	in := &input{ctx: ctx, src: src, limits: l.limits}
	progress := Progress{File: file}
	if f, ok := src.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			progress.Total = info.Size()
		}
	}
	unpacked, err := in.unpack()
	if err != nil {
		return err
	}
	t := tar.NewReader(unpacked)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		// A name that leaves the directory is none of our concern: names
		// are never used as paths of a file system.
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return damaged(err, progress.Entries)
		}
		if progress.Entries++; progress.Entries > l.limits.entries {
			return fmt.Errorf("found over %d entries", l.limits.entries)
		}
		if err := l.visit(h, t, visit); err != nil {
			return damaged(err, progress.Entries)
		}
		if l.cfg.Progress != nil {
			progress.Read = in.read
			l.cfg.Progress(progress)
		}
	}
	// What follows the end of the archive is only read for the checksum that
	// gzip keeps at its very end.
	if _, err := io.Copy(io.Discard, unpacked); err != nil {
		return damaged(err, progress.Entries)
	}
	if progress.Entries == 0 {
		return errors.New("found no entries, expected a tar archive, plain or compressed by gzip")
	}
	return nil
}

// visit passes on one entry that is a file or a directory of sane size.
func (l *loader) visit(h *tar.Header, r io.Reader, visit func(*entry) error) error {
	switch {
	case len(h.Name) > maxPath:
		l.warn(h.Name, "left out: found a name of %d bytes, expected at most %d", len(h.Name), maxPath)
		return nil
	case h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
		l.warn(h.Name, "left out: found entry type %q, expected a file or a directory", h.Typeflag)
		return nil
	}
	name := strings.TrimPrefix(h.Name, "./")
	return visit(&entry{name: name, dir: h.Typeflag == tar.TypeDir, size: h.Size, content: content{r: r}})
}

// damaged says where in the archive reading failed. What was read up to there
// is no picture of anything, so it is not used.
func damaged(err error, entries int) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("found the end of the file after entry %d, expected more: %w", entries, err)
	}
	return fmt.Errorf("after entry %d: %w", entries, err)
}

// input counts and bounds both sides of the decompression.
type input struct {
	ctx      context.Context
	src      io.Reader
	limits   limits
	read     int64 // bytes of the file
	unpacked int64
}

// unpack returns the tar stream.
func (in *input) unpack() (io.Reader, error) {
	br := bufio.NewReaderSize(readerFunc(in.readFile), 64<<10)
	packed, err := isGzip(br)
	if err != nil {
		return nil, err
	}
	if !packed {
		return readerFunc(func(p []byte) (int, error) { return in.count(br.Read(p)) }), nil
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	z.Multistream(false)
	return readerFunc(func(p []byte) (int, error) {
		n, err := in.count(z.Read(p))
		if err != io.EOF {
			return n, err
		}
		// Compressed files may follow each other and count as one; anything
		// else behind the end is none of ours.
		if more, _ := isGzip(br); !more {
			return n, io.EOF
		}
		err = z.Reset(br)
		z.Multistream(false)
		return n, err
	}), nil
}

// isGzip reports whether a compressed file begins here.
func isGzip(br *bufio.Reader) (bool, error) {
	magic, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(magic) == "\x1f\x8b", nil
}

// readFile reads from the file as it is.
func (in *input) readFile(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.src.Read(p)
	in.read += int64(n)
	return n, err
}

// count adds up what was unpacked. It looks at the context too: a little file
// can unpack to a lot.
func (in *input) count(n int, err error) (int, error) {
	in.unpacked += int64(n)
	switch {
	case in.ctx.Err() != nil:
		return 0, in.ctx.Err()
	case in.unpacked > in.limits.total:
		return 0, fmt.Errorf("found over %d bytes unpacked", in.limits.total)
	case in.unpacked > in.limits.bomb && in.unpacked/in.limits.ratio > in.read:
		return 0, fmt.Errorf("found %d bytes that unpack to over %d, expected at most %d times as many", in.read, in.unpacked, in.limits.ratio)
	}
	return n, err
}

type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
