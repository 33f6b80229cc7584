package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/space/wip"
)

// documentName is what InterfaceRefs call the one document.
const documentName = "artifact.wip"

//go:embed artifact.wip
var documents embed.FS

// host is what the Host of a Store is made of.
type host struct {
	text  []byte // of the document
	iface *idl.Interface
	ref   wip.InterfaceRef
}

func newHost() (host, error) {
	document, err := compiled()
	if err != nil {
		return host{}, err
	}
	text, err := documents.ReadFile(documentName)
	if err != nil {
		return host{}, err
	}
	sum := sha256.Sum256(text)
	return host{text, document.Interface("Artifact"), wip.InterfaceRef{Document: documentName, Interface: "Artifact", SHA256: hex.EncodeToString(sum[:])}}, nil
}

// Fetch returns an artifact of the caller, or the folder of all.
func (s *Store) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	if err := ctx.Err(); err != nil {
		return wip.Entry{}, err
	}
	if path == "/" {
		return wip.Entry{Path: path, Title: "Artifacts", Summary: "Results that were too large for an answer."}, nil
	}
	a, ok := s.find(caller, path, false)
	if !ok {
		return wip.Entry{}, noEntry()
	}
	label, _ := cleantext.Clean(a.label, 100)
	return wip.Entry{
		Path: path, Title: "Result of " + label,
		Summary: fmt.Sprintf("%d bytes of JSON in %d lines, kept until %s.", a.size, a.lines.count, a.expires.UTC().Format("15:04:05Z")),
		Object:  &wip.Object{ID: a.id, Interfaces: []wip.InterfaceRef{s.host.ref}}, Tag: a.id,
	}, nil
}

// FetchTree returns the entry at path alone: what is below the folder is not for
// discover.
func (s *Store) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	e, err := s.Fetch(ctx, caller, path)
	return wip.Tree{Entry: e}, err
}

// Document returns the one document.
func (s *Store) Document(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if name != documentName {
		return nil, &wip.Failure{Class: wip.NotFound, Message: "no such document"}
	}
	return bytes.Clone(s.host.text), nil
}

// CallOperation runs one operation on an artifact of the caller.
func (s *Store) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if err := ctx.Err(); err != nil {
		return wip.Result{}, err
	}
	a, ok := s.find(call.Caller, call.Path, true)
	op := s.host.iface.Operation(call.Operation)
	switch {
	case !ok || op == nil || call.Interface != "Artifact":
		return wip.Result{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry or operation"}
	case call.Object != a.id:
		return wip.Result{}, &wip.Failure{Class: wip.Stale, Message: "the entry leads to another object"}
	}
	args, err := op.DecodeArgs(call.Arguments)
	if err != nil {
		return wip.Result{}, domain("the arguments do not fit the operation", "the signature: "+op.Signature())
	}
	v := &view{store: s, artifact: a}
	defer v.close()
	value, err := CallArtifact(ctx, object{}, v, call.Operation, args.Record)
	if err = errors.Join(err, v.broken); err != nil {
		return wip.Result{}, failure(err)
	}
	return wip.Result{Value: value}, nil
}

// noEntry is the answer to whatever does not exist for the caller, in the same
// words whether it is another's or never was (T9).
func noEntry() error { return &wip.Failure{Class: wip.NotFound, Message: "no such entry"} }

func domain(message, hint string) error {
	return &wip.Failure{Class: wip.Domain, Message: message, Hint: hint}
}

// failure gives an error its class: a defect unless it says otherwise.
func failure(err error) error {
	var f *wip.Failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errGone):
		return noEntry()
	}
	return &wip.Failure{Class: wip.Internal, Message: "the artifact cannot be read", Err: err}
}

// view is one artifact during one call: the snapshot type of the generated
// bindings. It is not safe for concurrent use.
type view struct {
	*artifact
	store  *Store
	file   io.ReadCloser // nil until the text is asked for, and if it is in memory
	broken error         // a match could not be read while a page was written
}

// at returns the bytes of the text from an offset on, at most n of them. They
// are not to be changed.
func (v *view) at(offset, n int) ([]byte, error) {
	if offset >= v.size {
		return nil, nil
	}
	n = min(n, v.size-offset)
	if v.text != nil {
		return v.text[offset : offset+n], nil
	}
	if v.file == nil {
		f, err := v.store.disk.open(v.id)
		if err != nil {
			return nil, err
		}
		v.file = f
	}
	b := make([]byte, n)
	if _, err := v.file.(io.ReaderAt).ReadAt(b, int64(offset)); err != nil {
		return nil, err // also the end: the file is shorter than it was
	}
	return b, nil
}

func (v *view) close() {
	if v.file != nil {
		v.file.Close()
	}
}
