package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// TestDecide names the first rule that hides an operation, in words too.
func TestDecide(t *testing.T) {
	o := object(t)
	a, b, told := o[0].Operation("close"), o[1].Operation("close"), o[2].Operation("told")
	operator := policy.Principal{Audience: idl.LocalOperator}
	for name, test := range map[string]struct {
		p    policy.Principal
		m    *policy.Mount
		op   *idl.Operation
		want policy.Decision
		says string
	}{
		"allowed":          {operator, nil, a, policy.Decision{}, "allowed"},
		"by a mount":       {operator, &policy.Mount{Audience: idl.LocalOperator, Allow: []string{"B.*", "A.close"}}, a, policy.Decision{}, "allowed"},
		"audience":         {policy.Principal{Audience: idl.PublicChat}, nil, a, policy.Decision{Hides: policy.Audience, Audience: idl.IM}, "it is for im and above"},
		"its only one":     {policy.Principal{Audience: idl.AuthorizedIM}, nil, told, policy.Decision{Hides: policy.Audience, Audience: idl.LocalOperator}, "it is for local_operator alone"},
		"nobody":           {policy.Principal{}, nil, a, policy.Decision{Hides: policy.Audience, Audience: idl.IM}, "it is for im and above"},
		"grant":            {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#close"}}, nil, b, policy.Decision{Hides: policy.Grant}, "a scheduler run needs a grant for it"},
		"intent":           {policy.Principal{Audience: idl.LocalOperator, Intent: []string{}}, nil, a, policy.Decision{Hides: policy.Intent}, "the intent does not name it"},
		"mount's audience": {policy.Principal{Audience: idl.IM}, &policy.Mount{Audience: idl.AuthorizedIM}, a, policy.Decision{Hides: policy.MountAudience, Audience: idl.AuthorizedIM}, "the mount is for authorized_im and above"},
		"scheduler's mount": {policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/x#close"}}, &policy.Mount{Audience: idl.LocalOperator}, a,
			policy.Decision{}, "allowed"},
		"allow":    {operator, &policy.Mount{Allow: []string{"A.*"}}, b, policy.Decision{Hides: policy.MountAllow}, "the mount's allow does not list it"},
		"no allow": {operator, &policy.Mount{Allow: []string{}}, b, policy.Decision{Hides: policy.MountAllow}, "the mount's allow does not list it"},
		"deny":     {operator, &policy.Mount{Allow: []string{"B.*"}, Deny: []string{"B.close"}}, b, policy.Decision{Hides: policy.MountDeny}, "the mount's deny lists it"},
		"a mount before all": {policy.Principal{Audience: idl.PublicChat}, &policy.Mount{Deny: []string{"A.*"}}, a,
			policy.Decision{Hides: policy.MountDeny}, "the mount's deny lists it"},
	} {
		got := test.p.Decide(test.m, "/x", o, test.op)
		if diff := cmp.Diff(test.want, got); diff != "" || got.String() != test.says {
			t.Errorf("%s: says %q, want %q (-want +got):\n%s", name, got, test.says, diff)
		}
		if test.p.Allows(test.m, "/x", o, test.op) != got.Allowed() {
			t.Errorf("%s: Allows and Decide differ", name)
		}
	}
	if got := (policy.Decision{Hides: policy.Audience}).String(); got != "it is for nobody" {
		t.Errorf("of nobody says %q", got)
	}
}
