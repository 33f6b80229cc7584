package project

import (
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// warnings returns what could be better in the named documents and is not
// silenced.
func (p *Project) warnings(r *Result, names []string) []syntax.Diagnostic {
	var found []syntax.Diagnostic
	rules := newRuleSet(lint.Rules())
	linted := map[string][]*suppression{}
	for _, name := range names {
		f := r.Files[name]
		if f == nil {
			continue
		}
		list, bad := suppressions(f, r.texts[name], rules)
		found = append(found, bad...)
		linted[name] = list
	}
	if p.NoLint {
		return found
	}
	files := make([]*syntax.File, len(r.Documents))
	for i, d := range r.Documents {
		files[i] = r.Files[d.Name]
	}
	for _, d := range lint.Lint(r.Documents, files, &p.Config.Lint) {
		silenced := false
		for _, s := range linted[d.Span.File] {
			if s.covers(d) {
				s.used, silenced = true, true
			}
		}
		if !silenced {
			found = append(found, d)
		}
	}
	for _, d := range r.Documents { // only these were looked at
		for _, s := range linted[d.Name] {
			if !s.used && p.Config.Lint.Rules[s.rule] != lint.LevelOff {
				found = append(found, s.unused())
			}
		}
	}
	return found
}
