package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/explain"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// The parts of a SARIF 2.1.0 log that a check fills (OASIS, "Static Analysis
// Results Interchange Format (SARIF) Version 2.1.0").
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations,omitempty"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Help    sarifMessage `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Message  *sarifMessage `json:"message,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifMessage  `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
		Properties  sarifFixBag   `json:"properties"`
	}
	sarifFixBag struct {
		Safe bool `json:"safe"` // or else for the author to decide
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion  `json:"deletedRegion"`
		Inserted sarifMessage `json:"insertedContent"`
	}
)

// sarif returns the findings as a SARIF log. Documents below the working
// directory have relative URIs.
func (f *findings) sarif() sarifLog {
	driver := sarifDriver{Name: "wipagent", Version: version(), Rules: sarifRules()}
	results := make([]sarifResult, 0, len(f.list))
	for _, d := range f.list {
		text := d.Message
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		item := sarifResult{
			RuleID:    d.Rule,
			RuleIndex: slices.IndexFunc(driver.Rules, func(r sarifRule) bool { return r.ID == d.Rule }),
			Level:     d.Severity.String(), Message: sarifMessage{Text: text},
			Locations: []sarifLocation{{Physical: f.physical(d.Span)}},
		}
		for i, r := range d.Related {
			item.Related = append(item.Related, sarifLocation{ID: i + 1, Message: &sarifMessage{Text: r.Message}, Physical: f.physical(r.Span)})
		}
		for _, fix := range d.Fixes {
			change := sarifChange{Artifact: artifact(d.Span.File)}
			for _, e := range fix.Edits {
				change.Replacements = append(change.Replacements, sarifReplacement{*f.region(e.Span), sarifMessage{Text: e.Text}})
			}
			item.Fixes = append(item.Fixes, sarifFix{sarifMessage{Text: fix.Title}, []sarifChange{change}, sarifFixBag{fix.Safe}})
		}
		results = append(results, item)
	}
	return newSARIF(sarifRun{Tool: sarifTool{driver}, Results: results})
}

// failedSARIF returns the log of a run that checked nothing.
func failedSARIF(why string) sarifLog {
	return newSARIF(sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "wipagent", Version: version(), Rules: sarifRules()}},
		Invocations: []sarifInvocation{{Notifications: []sarifNotification{{"error", sarifMessage{Text: why}}}}},
		Results:     []sarifResult{},
	})
}

func newSARIF(run sarifRun) sarifLog {
	run.ColumnKind = "utf16CodeUnits"
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// sarifRules lists every rule that a check can report.
func sarifRules() []sarifRule {
	var out []sarifRule
	add := func(level string, rules []syntax.Rule) {
		for _, r := range rules {
			help := sarifMessage{Text: r.Doc}
			help.Markdown, _ = explain.Page(r.ID)
			out = append(out, sarifRule{r.ID, sarifMessage{Text: r.Doc}, help, sarifDefault{level}})
		}
	}
	add("error", idl.Rules())
	add("warning", lint.Rules())
	add("warning", project.Rules())
	return out
}

func (f *findings) physical(s syntax.Span) sarifPhysical {
	return sarifPhysical{artifact(s.File), f.region(s)}
}

// region returns the place of a span, or nil if only its document is known.
func (f *findings) region(s syntax.Span) *sarifRegion {
	start, end := f.points(s)
	if start == nil {
		return nil
	}
	return &sarifRegion{start.Line, start.UTF16, end.Line, end.UTF16}
}

// artifact returns the URI of a document.
func artifact(name string) sarifArtifact {
	path := filepath.ToSlash(name)
	u := url.URL{Path: path}
	switch {
	case filepath.IsAbs(name):
		u.Scheme = "file"
		if !strings.HasPrefix(path, "/") {
			u.Path = "/" + path // a drive letter
		}
	case strings.Contains(strings.SplitN(path, "/", 2)[0], ":"):
		u.Path = "./" + path // no scheme
	}
	return sarifArtifact{u.String()}
}
