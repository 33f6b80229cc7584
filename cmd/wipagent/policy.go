package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/project"
)

type policyCmd struct {
	Explain policyExplainCmd `cmd:"" help:"Tell who may see and do what, and why not."`
}

type policyExplainCmd struct {
	Target     string `arg:"" optional:"" help:"An entry's path, for it and all below; PATH#OPERATION for one operation. Default: all there is." placeholder:"TARGET[#OPERATION]"`
	Principal  string `help:"Ask for this principal of --principals." placeholder:"ID"`
	Principals string `help:"The file of principals, as serve --http takes it." placeholder:"FILE"`
}

// Help shows examples.
func (policyExplainCmd) Help() string {
	return `For each operation it tells which callers may know of it, whether a call has to be approved, and what hides it from the rest:
mount_audience, mount_allow and mount_deny are the rules of its mount, audience is what its document says, grant that a
scheduler_run has none for it, intent that the caller was narrowed to others. With --as, --grant and --intent it is about that
caller, with --principal about one of a file. It tells of what is hidden: it is for operators, not for models.

Examples:
  wipagent policy explain
  wipagent policy explain --as im /grid/inventory
  wipagent policy explain --mounts mounts.toml --principals principals.toml --principal ada '/issues/1#close' --json`
}

// Run runs the command.
func (e *policyExplainCmd) Run(ctx context.Context, c *cli, k *kong.Context) error {
	p, err := e.caller(c, k)
	if err != nil {
		return err
	}
	target := e.Target
	if target == "" {
		target = "/"
	}
	return c.with(ctx, describing, func(ctx context.Context, s *session) error {
		callers := []*policy.Principal{p}
		if p == nil {
			callers = nil
			for _, name := range idl.AudienceNames() {
				audience, _ := idl.ParseAudience(name)
				callers = append(callers, &policy.Principal{ID: "cli:" + name, Audience: audience})
			}
		}
		report, err := s.explain(ctx, callers, target)
		if err == nil {
			report.Elsewhere = s.elsewhere(target)
		}
		return s.answer(report, err, func(page *page) {
			if p == nil {
				page.audiences(report)
			} else {
				page.decisions(report)
			}
			if len(report.Elsewhere) > 0 {
				page.line("")
				page.line("not listed, as only entries have it that results lead to: %s; ask for such an entry by its path", strings.Join(report.Elsewhere, ", "))
			}
		})
	})
}

// caller returns whom it is about; nil for every audience.
func (e *policyExplainCmd) caller(c *cli, k *kong.Context) (*policy.Principal, error) {
	said := len(c.Grant)+len(c.Intent) > 0
	for _, p := range k.Path {
		said = said || p.Flag != nil && p.Flag.Name == "as"
	}
	switch {
	case (e.Principal == "") != (e.Principals == ""):
		return nil, usageError("found one of --principal and --principals, expected both")
	case e.Principal != "" && said:
		return nil, usageError("--principal says who calls; --as, --grant and --intent do not go with it")
	case e.Principal == "" && !said:
		return nil, nil
	case e.Principal == "":
		return c.principal(), nil
	}
	file, err := principals.Open(e.Principals)
	if err != nil {
		return nil, usageError("--principals: %w", err)
	}
	var ids []string
	for _, access := range file.List() {
		if access.Principal.ID != e.Principal {
			ids = append(ids, access.Principal.ID)
			continue
		}
		if access.Over(time.Now()) {
			c.warn("the access of %s has expired: it may do nothing any more", e.Principal)
		}
		return &access.Principal, nil
	}
	return nil, usageError("--principal %q: no such principal in %s, or a revoked one%s", e.Principal, e.Principals, project.DidYouMean(e.Principal, ids))
}

// explained is what policy says of an operation, for machines.
type explained struct {
	Path      string `json:"path"`
	Operation string `json:"operation"`
	Risk      string `json:"risk"`
	Trusted   bool   `json:"trusted"` // whether somebody vouches for the Host
	// NeedsApproval says whether a call has to be approved before it runs.
	NeedsApproval bool       `json:"needs_approval"`
	Callers       []decision `json:"callers"`
}

type decision struct {
	Principal string      `json:"principal"`
	Audience  string      `json:"audience"`
	Allowed   bool        `json:"allowed"`
	Hides     policy.Rule `json:"hides,omitempty"` // the first rule that hides it
	Why       string      `json:"why,omitempty"`
}

type explainedReport struct {
	Operations []*explained `json:"operations"`
	// Elsewhere are interfaces of entries that no tree has, such as those that
	// results lead to: "/issues: tracker.Issue".
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// elsewhere returns the interfaces, by mount, that entries may have which are not
// in the trees at and below target.
func (s *session) elsewhere(target string) []string {
	var list []string
	for i := range s.cli.mounted {
		m := &s.cli.mounted[i]
		if m.path != target && !strings.HasPrefix(m.path, strings.TrimSuffix(target, "/")+"/") {
			continue // it is about one place in the mount, or about others
		}
		there := map[*idl.Interface]bool{}
		for _, op := range m.operations(s.client) {
			there[op.Operation.Operation.Interface] = true
		}
		for _, i := range m.interfaces(s.client) {
			if !there[i] {
				list = append(list, m.path+": "+i.QualifiedName())
			}
		}
	}
	return list
}

// explain asks for each caller what policy says. An entry that a Host shows to
// some callers alone is told of with those.
func (s *session) explain(ctx context.Context, callers []*policy.Principal, target string) (*explainedReport, error) {
	report := &explainedReport{Operations: []*explained{}}
	found := map[string]*explained{}
	var failed error
	for _, p := range callers {
		list, err := s.client.Explain(ctx, p, target)
		var none *client.Error
		switch {
		case errors.As(err, &none) && none.Class == client.NotFound:
			failed = err
			continue
		case err != nil:
			return nil, err
		}
		for _, e := range list {
			name := policy.Name(e.Node.Path, e.Operation.Name)
			op := found[name]
			if op == nil {
				op = &explained{
					Path: e.Node.Path, Operation: e.Operation.Name, Risk: e.Operation.Operation.Risk.String(),
					Trusted: e.Node.Mount.Trusted, NeedsApproval: e.NeedsApproval(),
				}
				found[name], report.Operations = op, append(report.Operations, op)
			}
			d := decision{Principal: p.ID, Audience: p.Audience.String(), Allowed: e.Decision.Allowed(), Hides: e.Decision.Hides}
			if !d.Allowed {
				d.Why = e.Decision.String()
			}
			op.Callers = append(op.Callers, d)
		}
	}
	if len(report.Operations) == 0 && failed != nil {
		return nil, failed
	}
	return report, nil
}

// approval says whether a call has to be approved, and why.
func (e *explained) approval() string {
	switch {
	case !e.NeedsApproval:
		return "no"
	case e.Risk == idl.ReadOnly.String():
		return "yes: its Host is not trusted"
	}
	return "yes"
}

// decisions shows what one caller may do.
func (p *page) decisions(r *explainedReport) {
	rows := [][]string{{"OPERATION", "ALLOWED", "WHY NOT", "RISK", "APPROVAL"}}
	for _, e := range r.Operations {
		d := e.Callers[0]
		rows = append(rows, []string{policy.Name(e.Path, e.Operation), yesOrNo(d.Allowed), d.Why, e.Risk, e.approval()})
	}
	p.table(rows)
}

// audiences shows which audiences may do what.
func (p *page) audiences(r *explainedReport) {
	rows := [][]string{{"OPERATION", "ALLOWED TO", "HIDDEN FROM THE REST BECAUSE", "RISK", "APPROVAL"}}
	for _, e := range r.Operations {
		var allowed, why []string
		for _, d := range e.Callers {
			switch {
			case d.Hides == policy.Grant:
				allowed = append(allowed, d.Audience+" with a grant")
			case !d.Allowed && !slices.Contains(why, d.Why):
				why = append(why, d.Why)
			case d.Allowed && len(allowed) == 0: // who is above is allowed too
				allowed = append(allowed, d.Audience)
				if d.Audience != idl.LocalOperator.String() {
					allowed[0] += " and above"
				}
			}
		}
		if len(allowed) == 0 {
			allowed = []string{"nobody"}
		}
		rows = append(rows, []string{policy.Name(e.Path, e.Operation), strings.Join(allowed, ", "), strings.Join(why, "; "), e.Risk, e.approval()})
	}
	p.table(rows)
}
