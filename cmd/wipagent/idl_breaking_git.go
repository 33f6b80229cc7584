package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// What is read of a commit at most. A repository may be a stranger's.
const (
	maxTreeBytes   = 256 << 20 // of the list of files
	maxCommitBytes = 64 << 20  // of all documents together
)

// gitState writes the documents of a commit, and the configuration beside
// them, into a temporary folder, which the caller removes. The commit is one of
// the repository that holds the files. They are named as seen from the working
// directory, which may be elsewhere.
func gitState(ctx context.Context, ref string, files []string) (state *oldState, err error) {
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, ":\x00\n") {
		return nil, usageError("found %q, expected a folder or a git ref", ref)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, &exitError{exitUnavailable, fmt.Errorf("%q is no folder, and a git ref needs git, which is not installed here", ref)}
	}
	paths := make([]string, len(files))
	for i, file := range files {
		if paths[i], err = realPath(file); err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
	}
	g := git{nearestFolder(paths[0])}
	toplevel, err := g.run(ctx, nil, 1<<16, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, &exitError{exitUnavailable, fmt.Errorf("%q is no folder, and %s is in no git repository: %w", ref, files[0], err)}
	}
	root := filepath.FromSlash(strings.TrimSuffix(string(toplevel), "\n"))
	commit, err := g.run(ctx, nil, 1<<16, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, usageError("found neither a folder nor a commit, branch or tag of the git repository %s named %q", root, ref)
	}
	top, err := os.MkdirTemp("", "wipagent-breaking-")
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	defer func() {
		if err != nil {
			os.RemoveAll(top)
		}
	}()
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	if err := g.extract(ctx, strings.TrimSpace(string(commit)), top); err != nil {
		return nil, &exitError{exitUnavailable, fmt.Errorf("reading %s: %w", ref, err)}
	}
	state = &oldState{here: top, prefix: ref + ":", remove: top}
	if here, err := realPath("."); err != nil {
		return nil, &exitError{exitUnavailable, err}
	} else if inside, err := filepath.Rel(root, here); err == nil && filepath.IsLocal(inside) && inside != "." {
		state.here, state.prefix = filepath.Join(top, inside), ref+":"+filepath.ToSlash(inside)+"/"
	}
	for i, path := range paths {
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, usageError("found %s, which is not in the git repository %s of %s", files[i], root, files[0])
		}
		old := filepath.Join(top, rel)
		there, err := exists(old)
		if err != nil {
			return nil, err
		}
		if there {
			state.paths = append(state.paths, old)
		}
	}
	return state, nil
}

// realPath returns the absolute path of a file that is named, without the links
// that lead to its folder, or to it if it is one. It need not be there.
func realPath(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	folder, rest := nearestFolder(path), ""
	if rest, err = filepath.Rel(folder, path); err != nil {
		return "", err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, rest), nil
}

// nearestFolder returns a path if it is a folder, or the nearest above it.
func nearestFolder(path string) string {
	for {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// blob is a file of a commit.
type blob struct {
	path, id string
	size     int
}

// extract writes the documents and configurations of a commit into a folder.
func (g git) extract(ctx context.Context, commit, dir string) error {
	tree, err := g.run(ctx, nil, maxTreeBytes, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return err
	}
	blobs, err := documentsIn(tree)
	if err != nil || len(blobs) == 0 {
		return err
	}
	var ids bytes.Buffer
	total := 0
	for _, b := range blobs {
		fmt.Fprintln(&ids, b.id)
		total += b.size
	}
	out, err := g.run(ctx, &ids, total+len(blobs)*200, "cat-file", "--batch")
	if err != nil {
		return err
	}
	r := bufio.NewReader(bytes.NewReader(out))
	for _, b := range blobs {
		head, err := r.ReadString('\n')
		if err != nil || head != fmt.Sprintf("%s blob %d\n", b.id, b.size) {
			return fmt.Errorf("cannot read %s", b.path)
		}
		text := make([]byte, b.size+1) // and a line's end
		if _, err := io.ReadFull(r, text); err != nil {
			return fmt.Errorf("cannot read %s: %w", b.path, err)
		}
		at := filepath.Join(dir, filepath.FromSlash(b.path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(at, text[:b.size], 0o600); err != nil {
			return err
		}
	}
	return nil
}

// documentsIn reads the list that git ls-tree -r -z -l writes: each file as
// "mode blob id size", a tab and its path.
func documentsIn(tree []byte) (blobs []blob, err error) {
	total := 0
	for entry := range bytes.SplitSeq(tree, []byte{0}) {
		head, name, ok := strings.Cut(string(entry), "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 || fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") { // no links
			continue
		}
		if !strings.HasSuffix(name, ".wip") && path.Base(name) != project.ConfigName {
			continue
		}
		size, err := strconv.Atoi(fields[3])
		if err != nil || !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		total += size
		if size > syntax.MaxSource || total > maxCommitBytes || len(blobs) == maxChecked {
			return nil, fmt.Errorf("%s is too large, or there are too many documents", name)
		}
		blobs = append(blobs, blob{name, fields[2], size})
	}
	return blobs, nil
}

// git is the program, run in a folder.
type git struct{ folder string }

// run returns at most so many bytes of what git prints.
func (g git) run(ctx context.Context, in io.Reader, most int, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.folder
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.Stdin = in
	out, failure := &boundedBuffer{most: most}, &boundedBuffer{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, failure
	err := cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("git %s printed more than %d bytes", args[0], most)
	case err != nil:
		if said := strings.TrimSpace(string(failure.kept)); said != "" {
			said, _, _ = strings.Cut(said, "\n")
			return nil, errors.New(printable(strings.TrimPrefix(said, "fatal: ")))
		}
		return nil, err
	}
	return out.kept, nil
}

// boundedBuffer keeps the first bytes that are written to it.
type boundedBuffer struct {
	kept []byte
	most int
	full bool
}

// Write keeps what there is room for.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	fits := min(len(p), b.most-len(b.kept))
	b.kept = append(b.kept, p[:fits]...)
	b.full = b.full || fits < len(p)
	return len(p), nil
}
