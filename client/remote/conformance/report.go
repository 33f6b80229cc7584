package conformance

import "fmt"

// Report says how a Host fares, rule by rule.
type Report struct {
	Rules []Result `json:"rules"`
}

// Result is what was found of one rule.
type Result struct {
	Rule
	// Status is "pass", "fail", or "skip" if the Host has nothing to look at.
	Status string `json:"status"`
	// Checks counts the times that the rule was looked at.
	Checks int `json:"checks"`
	// Why says of a skipped rule what there would have to be to look at.
	Why string `json:"why,omitempty"`
	// Findings are at most 20, each different.
	Findings []Finding `json:"findings,omitempty"`
	// More counts the findings that were left out.
	More int `json:"more,omitempty"`
}

// Finding is one thing that is wrong. What it quotes of the Host is in quotes,
// without control characters, and cut.
type Finding struct {
	Where string `json:"where"` // such as a path, or "document types.wip"
	Found string `json:"found"` // what was found and what was expected
}

const maxFindings = 20

// Failed returns the rules that the Host breaks.
func (r *Report) Failed() []Result {
	var list []Result
	for _, result := range r.Rules {
		if result.Status == "fail" {
			list = append(list, result)
		}
	}
	return list
}

func newReport() *Report {
	r := &Report{}
	for _, rule := range rules {
		r.Rules = append(r.Rules, Result{Rule: rule, Status: "skip"})
	}
	return r
}

// What a rule needs to be looked at.
const (
	aReader  = "found no read-only operation with arguments to call it with, as an @example gives them, in the tree or where a result leads"
	aMutator = "with arguments to call it with, as an @example gives them, in the tree or where a result leads"
)

var needs = map[string]string{
	handshake:      "the Host is in this process",
	below:          "found no entry below the root",
	digests:        "no reference to a document gives its digest",
	since:          "the Host tells no changes since a tag",
	sinceUnknown:   "the Host tells no changes since a tag",
	unknownCall:    aReader,
	examples:       aReader,
	resultType:     aReader,
	resultSize:     aReader,
	deadlines:      aReader,
	cancellation:   aReader,
	dryRun:         "found no operation that declares @dry_run, " + aMutator + ", or the tree changes by itself",
	idempotencyKey: "found no operation that changes things and answers, " + aMutator,
}

// explain says of each rule that was skipped why.
func (r *Report) explain(ended, mutate bool) {
	for i := range r.Rules {
		result := &r.Rules[i]
		switch why, known := needs[result.ID]; {
		case result.Status != "skip":
		case ended:
			result.Why = "the check was ended before"
		case result.ID == idempotencyKey && !mutate:
			result.Why = "it takes calls that change things for real, which were not allowed"
		case known:
			result.Why = why
		default:
			result.Why = "the Host shows nothing of the kind"
		}
	}
}

// of returns the result of a rule.
func (r *Report) of(id string) *Result {
	for i := range r.Rules {
		if r.Rules[i].ID == id {
			return &r.Rules[i]
		}
	}
	panic("no rule " + id)
}

// looked counts a check of a rule.
func (r *Report) looked(id string) {
	result := r.of(id)
	result.Checks++
	if result.Status == "skip" {
		result.Status = "pass"
	}
}

// found notes what is wrong.
func (r *Report) found(id, where, format string, args ...any) {
	result := r.of(id)
	result.Status = "fail"
	f := Finding{where, fmt.Sprintf(format, args...)}
	for _, other := range result.Findings {
		if other == f {
			return
		}
	}
	if len(result.Findings) == maxFindings {
		result.More++
		return
	}
	result.Findings = append(result.Findings, f)
}

// quote shows a Host's word.
func quote(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q…", s[:80])
	}
	return fmt.Sprintf("%q", s)
}
