package policy_test

import (
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// object is an Object whose two interfaces share the name of an operation.
func object(t *testing.T) []*idl.Interface {
	t.Helper()
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte(`package a;
@read_only @audience(im) interface A { close() -> bool; only_a() -> bool; }
@mutating @audience(authorized_im) interface B { close() -> bool; }
@read_only interface Quiet { told() -> bool; }
interface Mute { unstated() -> bool; }
`)}}), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	return docs[0].Interfaces
}

func TestAllows(t *testing.T) {
	o := object(t)
	ops := map[string]*idl.Operation{
		"A.close": o[0].Operation("close"), "only_a": o[0].Operation("only_a"), "B.close": o[1].Operation("close"), "told": o[2].Operation("told"),
	}
	for name, test := range map[string]struct {
		p    policy.Principal
		want []string
	}{
		"nobody":                          {policy.Principal{}, nil},
		"public":                          {policy.Principal{Audience: idl.PublicChat}, nil},
		"im":                              {policy.Principal{Audience: idl.IM}, []string{"A.close", "only_a"}},
		"authorized":                      {policy.Principal{Audience: idl.AuthorizedIM}, []string{"A.close", "only_a", "B.close"}},
		"operator":                        {policy.Principal{Audience: idl.LocalOperator}, []string{"A.close", "only_a", "B.close", "told"}},
		"a grant lifts no audience":       {policy.Principal{Audience: idl.PublicChat, Grants: []string{"/x#only_a", "/x#told"}}, nil},
		"scheduler without grants":        {policy.Principal{Audience: idl.SchedulerRun}, nil},
		"scheduler, the first of a name":  {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#close"}}, []string{"A.close"}},
		"scheduler, the second of a name": {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#B.close"}}, []string{"B.close"}},
		"scheduler, with interfaces":      {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#A.close", "/x#Quiet.told"}}, []string{"A.close", "told"}},
		"scheduler, another path":         {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/y#close"}}, nil},
		"intent narrows":                  {policy.Principal{Audience: idl.LocalOperator, Intent: []string{"/x#told"}}, []string{"told"}},
		"intent does not widen":           {policy.Principal{Audience: idl.IM, Intent: []string{"/x#told", "/x#only_a"}}, []string{"only_a"}},
		"an empty intent leaves nothing":  {policy.Principal{Audience: idl.LocalOperator, Intent: []string{}}, nil},
		"a granted scheduler is narrowed": {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#told"}, Intent: []string{"/x#only_a"}}, nil},
	} {
		wanted := map[string]bool{}
		for _, w := range test.want {
			wanted[w] = true
		}
		for label, op := range ops {
			if got := test.p.Allows(nil, "/x", o, op); got != wanted[label] {
				t.Errorf("%s: allows %s is %v, want %v", name, label, got, wanted[label])
			}
		}
	}
}

func TestIdentify(t *testing.T) {
	o := object(t)
	for want, op := range map[string]*idl.Operation{
		"/x#close": o[0].Operation("close"), "/x#B.close": o[1].Operation("close"), "/x#only_a": o[0].Operation("only_a"),
	} {
		if got := policy.Identify("/x", o, op); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNeedsApproval(t *testing.T) {
	o := object(t)
	for _, test := range []struct {
		op      *idl.Operation
		trusted bool
		want    bool
	}{
		{o[0].Operation("close"), true, false},
		{o[0].Operation("close"), false, true}, // a stranger only claims to be harmless
		{o[1].Operation("close"), true, true},
		{o[3].Operation("unstated"), true, true},
	} {
		if got := policy.NeedsApproval(test.op, test.trusted); got != test.want {
			t.Errorf("%s of %s, trusted %v: needs approval is %v", test.op.Name, test.op.Interface.Name, test.trusted, got)
		}
	}
}
