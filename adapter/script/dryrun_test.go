package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// till is a Host with one operation that can be tried.
type till struct{ called []string }

func (*till) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	return wip.Entry{Path: path, Indexable: true, Object: &wip.Object{ID: "t", Interfaces: []wip.InterfaceRef{{Document: "t.wip", Interface: "Till"}}}}, nil
}

func (h *till) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	e, err := h.Fetch(ctx, caller, path)
	return wip.Tree{Entry: e}, err
}

func (*till) Document(context.Context, string) ([]byte, error) {
	return []byte(`package t; @mutating @dry_run interface Till { pay(amount: int [1..9]) -> int; }`), nil
}

func (h *till) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	h.called = append(h.called, fmt.Sprint(call.DryRun, string(call.Arguments)))
	return wip.Result{Value: json.RawMessage(`1`)}, nil
}

// TestDryRun tries an operation in a script, without anybody's approval; and what
// is proposed in place of a wrong trial is a trial.
func TestDryRun(t *testing.T) {
	h := &till{}
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/till", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	e := script.New(script.Config{Client: c, Principal: &policy.Principal{ID: "o", Audience: idl.LocalOperator}})
	if err := e.Run(t.Context(), "s", []byte("till.pay(amount=3, dry_run=True)\n")); err != nil || strings.Join(h.called, " ") != `true{"amount":3}` {
		t.Errorf("%v, the Host was asked for %v", err, h.called)
	}
	var call *script.CallError
	if err := e.Run(t.Context(), "s", []byte("till.pay(amount=30, dry_run=True)\n")); !errors.As(err, &call) || call.Corrected != "till.pay(amount=9, dry_run=True)" {
		t.Errorf("%v", err)
	}
	if err := e.Run(t.Context(), "s", []byte("till.pay(amount=3)\n")); !errors.As(err, &call) || call.Failure.Class != client.Refused || len(h.called) != 1 {
		t.Errorf("%v, the Host was asked for %v", err, h.called)
	}
}
