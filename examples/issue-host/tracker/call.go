package tracker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// Remembered is how long the answer to a call with an idempotency key is kept:
// for so long the call is never done twice.
const Remembered = 7 * 24 * time.Hour

// answersBucket holds answers by the digest of who called what with which key,
// timesBucket their digests by time.
var (
	answersBucket = []byte("answers")
	timesBucket   = []byte("answer_times")
)

// answer is a record of answersBucket.
type answer struct {
	Arguments []byte // digest of the record
	Value     json.RawMessage
}

// view is one moment of the tracker, a transaction, as one caller sees it. It is
// the snapshot type of the generated bindings.
type view struct {
	*Host
	tx     *bbolt.Tx
	caller wip.Caller
	at     place
	broken error // a record could not be read while a page was written
}

// KeepsKeys says that a call that comes again is not done again.
func (h *Host) KeepsKeys() bool { return true }

// CallOperation runs one operation in a transaction of its own. One that changes
// things is on the disk, with what to answer if its key comes again, before
// it is answered; whatever stops it before that undoes it.
func (h *Host) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if err := ctx.Err(); err != nil {
		return wip.Result{}, err
	}
	at, ok := h.find(call.Caller, call.Path)
	if !ok || call.Interface != at.kind() {
		return wip.Result{}, noOperation()
	}
	op := h.document.Interface(at.kind()).Operation(call.Operation)
	if op == nil {
		return wip.Result{}, noOperation()
	}
	if call.Object != at.object() {
		return wip.Result{}, &wip.Failure{Class: wip.Stale, Message: "the entry leads to another object"}
	}
	// A client has checked all this, but anybody can write to a wire.
	args, err := op.DecodeArgs(call.Arguments)
	if err != nil {
		return wip.Result{}, refuse("the arguments do not fit the operation", "the signature: "+op.Signature())
	}
	call.Arguments = args.Record
	if call.DryRun && !op.DryRun {
		return wip.Result{}, refuse("the operation cannot be tried without effect", "")
	}
	var value json.RawMessage
	if op.Risk == idl.ReadOnly {
		err = h.db.View(func(tx *bbolt.Tx) error {
			value, err = (&view{Host: h, tx: tx, caller: call.Caller, at: at}).run(ctx, call)
			return err
		})
	} else {
		value, err = h.change(ctx, call, at)
	}
	if err != nil {
		return wip.Result{}, failure(err)
	}
	return wip.Result{Value: value}, nil
}

// run calls the implementation of the place's interface.
func (v *view) run(ctx context.Context, call wip.Call) (json.RawMessage, error) {
	var value json.RawMessage
	var err error
	switch v.at.kind() {
	case "Tracker":
		value, err = CallTracker(ctx, trackerObject{}, v, call.Operation, call.Arguments)
	case "Project":
		value, err = CallProject(ctx, projectObject{}, v, call.Operation, call.Arguments)
	default:
		value, err = CallIssue(ctx, issueObject{}, v, call.Operation, call.Arguments)
	}
	return value, errors.Join(err, v.broken)
}

// change runs an operation that changes things. A dry run is the same run,
// undone: it cannot promise what the real one would not do.
func (h *Host) change(ctx context.Context, call wip.Call, at place) (json.RawMessage, error) {
	select {
	case h.writing <- struct{}{}:
		defer func() { <-h.writing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tx, err := h.db.Begin(true)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // of no effect after a commit
	keyed := call.IdempotencyKey != "" && !call.DryRun
	if keyed {
		if done, err := recall(tx, call); done != nil || err != nil {
			return done, err
		}
	}
	if tx.Size() > h.maxBytes {
		return nil, refuse("the tracker is full", "ask its operator for room")
	}
	value, err := (&view{Host: h, tx: tx, caller: call.Caller, at: at}).run(ctx, call)
	if err != nil || call.DryRun {
		return value, err
	}
	if keyed {
		if err := remember(tx, call, value, h.now()); err != nil {
			return nil, err
		}
	}
	if err := forget(tx, h.now().Add(-Remembered)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, &wip.Failure{Class: wip.Internal, Message: "the change could not be written", MaybeDone: true, Err: err}
	}
	return value, nil
}

// identify is the key under which a call is remembered. The caller and the
// operation are part of it: nobody learns by a key what somebody else did.
func identify(call wip.Call) []byte {
	h := sha256.New()
	for _, s := range []string{call.Caller.ID, call.Object, call.Operation, call.IdempotencyKey} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	return h.Sum(nil)
}

// digest is what tells one record of arguments from another.
func digest(args json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		b.Write(args)
	}
	sum := sha256.Sum256(b.Bytes())
	return sum[:]
}

// recall returns what was answered to the call before; nil if it was not done.
func recall(tx *bbolt.Tx, call wip.Call) (json.RawMessage, error) {
	stored := tx.Bucket(answersBucket).Get(identify(call))
	if stored == nil {
		return nil, nil
	}
	var a answer
	if err := json.Unmarshal(stored, &a); err != nil {
		return nil, err
	}
	if !bytes.Equal(a.Arguments, digest(call.Arguments)) {
		return nil, refuse("the idempotency key was used for a call with other arguments", "use a key for one call only")
	}
	return a.Value, nil
}

// remember keeps an answer.
func remember(tx *bbolt.Tx, call wip.Call, value json.RawMessage, now time.Time) error {
	id := identify(call)
	if err := put(tx.Bucket(answersBucket), id, answer{digest(call.Arguments), value}); err != nil {
		return err
	}
	return tx.Bucket(timesBucket).Put(append(number(uint64(millis(now))), id...), nil)
}

// forget drops answers from before a time: some at a time, and more than one
// call adds, so that none stays.
func forget(tx *bbolt.Tx, before time.Time) error {
	times, answers := tx.Bucket(timesBucket), tx.Bucket(answersBucket)
	for range 16 {
		k, _ := times.Cursor().First()
		if k == nil || int64(binary.BigEndian.Uint64(k)) >= millis(before) {
			return nil
		}
		if err := answers.Delete(k[8:]); err != nil {
			return err
		}
		if err := times.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// failure gives an error its class: a defect unless it says otherwise.
func failure(err error) error {
	var f *wip.Failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &wip.Failure{Class: wip.Internal, Message: "the tracker has a defect", Err: err}
}
