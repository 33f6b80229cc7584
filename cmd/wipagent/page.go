package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
)

// page writes answers for people. Everything that goes through it is made
// printable, so that no stranger's escape sequence reaches a terminal.
type page struct {
	w     io.Writer
	width int // columns of the terminal; 0 if there is none
}

// page returns a page on stdout.
func (c *cli) page() *page { return &page{c.io.out, c.io.width} }

func (p *page) line(format string, args ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(printable(fmt.Sprintf(format, args...)), " "))
}

// failure prints what went wrong and what to do. The flags are those of the
// command, for the one that would have been right.
func (p *page) failure(e *client.Error, flags []string) {
	p.line("error (%s): %s", e.Class, e.Message)
	for _, f := range e.Faults {
		at := f.Path
		if at == "" {
			at = "the record"
		}
		p.line("  %s: %s", at, f.Constraint)
	}
	if e.Hint != "" {
		p.line("hint: %s", e.Hint)
	}
	if e.RetryAfter > 0 {
		p.line("try again in %s", e.RetryAfter)
	}
	if e.Ref != "" && !strings.Contains(e.Message, e.Ref) {
		p.line("ref: %s", e.Ref)
	}
	if e.Corrected != nil {
		r := gjson.ParseBytes(e.Corrected)
		words := []string{"wipagent"}
		if r.Get("operation").Exists() {
			words = append(words, "invoke", r.Get("target").String(), r.Get("operation").String(), escapeControls(r.Get("arguments").Raw))
			if r.Get("dry_run").Bool() {
				words = append(words, "--dry-run")
			}
		} else {
			words = append(words, "inspect", r.Get("target").String())
		}
		words = append(words, flags...)
		for i, word := range words {
			words[i] = shellQuote(word)
		}
		p.line("corrected: %s", strings.Join(words, " "))
	}
}

func (p *page) discovery(found *client.Discovery) {
	if found.Message != "" {
		p.line("%s", found.Message)
	}
	for _, hit := range found.Hits {
		p.line("%s  %s (%s)", hit.Path, hit.Title, hit.Strength)
		if hit.Summary != "" {
			p.line("  %s", hit.Summary)
		}
		for _, op := range hit.Operations {
			p.line("    %s", op.Signature)
			p.deprecated("      ", op.Deprecated)
		}
	}
	if found.Map != "" {
		p.line("")
		for l := range strings.SplitSeq(strings.TrimRight(found.Map, "\n"), "\n") {
			p.line("%s", l)
		}
	}
}

func (p *page) description(d *adapter.Description) {
	p.line("%s  %s", d.Path, d.Title)
	if d.Summary != "" {
		p.line("%s", d.Summary)
	}
	for _, i := range d.Interfaces {
		p.line("")
		p.line("interface %s", i.Name)
		p.paragraph("  ", i.Doc)
		for _, op := range i.Operations {
			p.line("")
			p.line("  %s", cmp.Or(op.Signature, op.Name))
			p.deprecated("      ", op.Deprecated)
			p.paragraph("      ", op.Doc)
			for _, name := range slices.Sorted(maps.Keys(op.Parameters)) {
				p.line("      %s: %s", name, strings.ReplaceAll(op.Parameters[name], "\n", " "))
			}
			if op.Risk != "" {
				p.line("      %s, within %s, at most %d bytes, costs %d", strings.ReplaceAll(op.Risk, "_", "-"), time.Duration(op.Timeout)*time.Millisecond, op.MaxOutput, op.Cost)
			}
			if op.Example != nil {
				p.line("      example: wipagent invoke %s %s %s", shellQuote(d.Path), shellQuote(op.Name), shellQuote(string(op.Example)))
			}
		}
		if len(i.Types) > 0 {
			p.line("")
		}
		for _, t := range i.Types {
			p.paragraph("  ", t)
		}
	}
	if len(d.Forms) > 0 {
		p.line("")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Forms)) {
		p.line("  %s: %s", name, d.Forms[name])
	}
	if d.InputSchema != nil {
		p.line("")
		p.line("input schema: %s", d.InputSchema)
	}
	if d.OutputSchema != nil {
		p.line("output schema: %s", d.OutputSchema)
	}
	if len(d.Children) > 0 {
		p.line("")
		rows := [][]string{{"ENTRY", "TITLE", "SUMMARY"}}
		for _, c := range d.Children {
			rows = append(rows, []string{c.Path, c.Title, c.Summary})
		}
		p.table(rows)
	}
	if d.Hint != "" {
		p.line("")
		p.line("%s", d.Hint)
	}
}

// deprecated says what to use instead, if anything.
func (p *page) deprecated(indent, use string) {
	if use != "" {
		p.line("%sdeprecated: %s", indent, use)
	}
}

func (p *page) paragraph(indent, text string) {
	if text == "" {
		return
	}
	for l := range strings.SplitSeq(text, "\n") {
		p.line("%s%s", indent, l)
	}
}

// What is shown in the last lines, not among an answer's facts: the fields of the
// language's own wrappers, where they are there.
var (
	envelopeFields = []string{
		"schema_version", "tool", "generation", "region_id", "observed_unix_millis", "age_millis", "snapshot_id", "freshness", "trust", "provenance",
	}
	pageFields = []string{"items", "page", "page_size", "total_matching", "next_page", "truncated", "source_truncated"}
)

// wrapping reports whether a field of a record belongs to a wrapper, and is no
// fact of the record's own.
func wrapping(r gjson.Result, field string, outermost bool) bool {
	switch {
	case field == "trust":
		return true
	case field == "status":
		return r.Get("status").String() == "observed"
	case !outermost:
		return false
	}
	return r.Get("observed_unix_millis").Exists() && slices.Contains(envelopeFields, field) ||
		r.Get("items").IsArray() && r.Get("total_matching").Exists() && slices.Contains(pageFields, field)
}

func (p *page) outcome(out *client.Outcome) {
	for _, r := range out.Repaired {
		p.line("repaired: %s", r.Note)
	}
	if out.DryRun {
		p.line("a dry run: nothing was done")
	}
	r := gjson.ParseBytes(out.Result)
	switch {
	case !r.IsObject():
		p.line("%s", cell(r))
	case r.Get("status").String() == "unknown":
		p.line("unknown: this session has not observed it (%s)", r.Get("reason").String())
	default:
		rows := [][]string{}
		facts("", r, &rows)
		p.table(rows)
	}
	if items := r.Get("items"); items.IsArray() && wrapping(r, "items", true) {
		p.items(items.Array())
		p.line("")
		p.line("%s", paging(r))
	}
	if r.Get("observed_unix_millis").Exists() {
		p.line("%s", provenance(r))
	}
	if out.Trust != "" {
		p.line("a stranger's words")
	}
	for _, e := range out.Entries {
		p.line("entry: %s", e)
	}
}

// facts lists a record's fields, those of inner records by a dotted name.
func facts(prefix string, r gjson.Result, rows *[][]string) {
	r.ForEach(func(key, value gjson.Result) bool {
		name := prefix + key.String()
		switch {
		case wrapping(r, key.String(), prefix == ""):
		case value.IsObject() && !isPoint(value) && value.Get("status").String() != "unknown":
			facts(name+".", value, rows)
		default:
			*rows = append(*rows, []string{name, cellOf(key.String(), value)})
		}
		return true
	})
}

// items prints a page's items as a table with a column for each field.
func (p *page) items(items []gjson.Result) {
	if len(items) == 0 {
		p.line("nothing")
		return
	}
	if !items[0].IsObject() {
		for _, item := range items {
			p.line("%s", cell(item))
		}
		return
	}
	var columns []string
	for _, item := range items {
		item.ForEach(func(key, _ gjson.Result) bool {
			if name := key.String(); name != "trust" && !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
			return true
		})
	}
	// What people look for comes first, and identifiers last.
	slices.SortStableFunc(columns, func(a, b string) int { return identifier(a) - identifier(b) })
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = strings.ToUpper(c)
	}
	rows := [][]string{header}
	for _, item := range items {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = cellOf(c, item.Get(gjson.Escape(c)))
		}
		rows = append(rows, row)
	}
	shown := p.fitting(rows)
	for i := range rows {
		rows[i] = rows[i][:shown]
	}
	p.table(rows)
	if left := columns[shown:]; len(left) > 0 {
		p.line("too wide for this terminal: %s left out; --json has all", strings.Join(left, ", "))
	}
}

// fitting returns how many columns of a table, from the first, a terminal has
// room for when each is cut as far as it may be.
func (p *page) fitting(rows [][]string) int {
	const gap, narrowest = 2, 8 // as of table
	total := -gap
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, uniseg.StringWidth(strings.TrimSpace(printable(row[i]))))
		}
		if total += gap + min(widest, narrowest); p.width > 0 && total > p.width && i > 0 {
			return i
		}
	}
	return len(rows[0])
}

func identifier(column string) int {
	if strings.HasSuffix(column, "_id") {
		return 1
	}
	return 0
}

// cellOf renders the value of a field; what its name says is a time is shown
// as one.
func cellOf(name string, v gjson.Result) string {
	if v.Type == gjson.Number && (strings.HasSuffix(name, "_unix_millis") || strings.HasSuffix(name, "_time")) {
		return time.UnixMilli(v.Int()).UTC().Format("2006-01-02 15:04:05Z")
	}
	return cell(v)
}

// cell renders one value: a place as its numbers, unknown as
// unknown, null as none.
func cell(v gjson.Result) string {
	switch {
	case !v.Exists():
		return ""
	case v.Type == gjson.Null:
		return "none"
	case v.Type == gjson.String:
		return v.Str
	case v.IsObject() && v.Get("status").String() == "unknown":
		return "unknown"
	case v.IsObject() && isPoint(v):
		parts := []string{}
		for _, axis := range []string{"x", "y", "z"} {
			part := v.Get(axis)
			if part.Type == gjson.Number {
				parts = append(parts, strconv.FormatFloat(part.Num, 'f', 2, 64))
				continue
			}
			parts = append(parts, cell(part))
		}
		return strings.Join(parts, ", ")
	case v.Type == gjson.Number && strings.ContainsAny(v.Raw, ".eE"):
		return strconv.FormatFloat(v.Num, 'f', 2, 64)
	}
	return v.Raw
}

func isPoint(v gjson.Result) bool {
	return v.Get("x").Exists() && v.Get("y").Exists() && v.Get("z").Exists()
}

func paging(r gjson.Result) string {
	s := fmt.Sprintf("page %d, %d in all", r.Get("page").Int(), r.Get("total_matching").Int())
	if r.Get("source_truncated").Bool() {
		s += " that were looked at, and there are more"
	}
	if next := r.Get("next_page"); next.Type == gjson.Number {
		s += fmt.Sprintf("; next: page=%d", next.Int())
	}
	return s
}

// rounded drops what nobody reads of an age.
func rounded(age time.Duration) time.Duration {
	switch {
	case age >= time.Hour:
		return age.Round(time.Minute)
	case age >= time.Minute:
		return age.Round(time.Second)
	}
	return age.Round(100 * time.Millisecond)
}

func provenance(r gjson.Result) string {
	age := time.Duration(r.Get("age_millis").Int()) * time.Millisecond
	when := rounded(age).String() + " ago"
	if at := time.UnixMilli(r.Get("observed_unix_millis").Int()); time.Until(at) > time.Second { // another clock's
		when = at.UTC().Format("2006-01-02 15:04:05Z") + ", which is still to come by this machine's clock,"
	}
	s := fmt.Sprintf("%s %s by %s", r.Get("freshness").String(), when, r.Get("provenance.source").String())
	if at := r.Get("provenance.assumed_observer"); at.Exists() {
		s += ", as seen from an assumed place at " + cell(at)
	}
	if r.Get("trust").String() == "untrusted_observed_data" {
		s += "; names and texts are strangers' words"
	}
	return s
}
