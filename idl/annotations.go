package idl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/wipagent/wipagent/idl/syntax"
)

// target is what an annotation stands on; a set of them is where it may stand.
type target uint8

const (
	onInterface target = 1 << iota
	onOperation
	onParam
	onRecord
	onField
	onEnum
)

// String returns the word for one target.
func (t target) String() string {
	switch t {
	case onInterface:
		return "an interface"
	case onOperation:
		return "an operation"
	case onParam:
		return "a parameter"
	case onRecord:
		return "a record"
	case onField:
		return "a field"
	case onEnum:
		return "an enum"
	}
	var list []string
	for one := onInterface; one <= onEnum; one <<= 1 {
		if t&one != 0 {
			list = append(list, one.String())
		}
	}
	return strings.Join(list, " or ")
}

// What annotations may ask for at most.
const (
	maxAnnotations = 64 // on one thing
	maxAliasBytes  = 100
	maxUseBytes    = 200 // of what @deprecated says
	maxAliases     = 64  // of one operation
	maxExamples    = 16  // of one operation
	maxCost        = 1000
	maxTimeout     = 10 * time.Minute
	maxMaxOutput   = 16 << 20
)

// settings are the annotations that stand on one thing, read.
type settings struct {
	at map[string]*syntax.Annotation // the first of each name

	risk      Risk
	cost      int
	timeout   time.Duration
	maxOutput int
	audience  Audience
	aliases   []Alias
	examples  []*syntax.Annotation

	deprecated string
}

func (s *settings) has(name string) bool { return s.at[name] != nil }

// spans returns where the annotations stand, by name.
func (s *settings) spans() map[string]syntax.Span {
	if len(s.at) == 0 {
		return nil
	}
	spans := make(map[string]syntax.Span, len(s.at))
	for name, a := range s.at {
		spans[name] = a.Span
	}
	return spans
}

// annotation is how one annotation is checked and read.
type annotation struct {
	targets  target
	repeated bool // may stand several times
	read     func(*compiler, *unit, *syntax.Annotation, *settings)
}

const (
	onBoth = onInterface | onOperation
	onAll  = onBoth | onParam | onRecord | onField | onEnum
)

// annotationTable has every annotation by name.
var annotationTable = map[string]annotation{
	"informational": {targets: onBoth, read: readFlag},
	"read_only":     {targets: onBoth, read: readRisk(ReadOnly)},
	"mutating":      {targets: onBoth, read: readRisk(Mutating)},
	"destructive":   {targets: onBoth, read: readRisk(Destructive)},
	"idempotent":    {targets: onBoth, read: readFlag},
	"dry_run":       {targets: onBoth, read: readFlag},
	"cost":          {targets: onBoth, read: readCost},
	"timeout":       {targets: onBoth, read: readTimeout},
	"max_output":    {targets: onBoth, read: readMaxOutput},
	"audience":      {targets: onBoth, read: readAudience},
	"alias":         {targets: onOperation, repeated: true, read: readAlias},
	"example":       {targets: onOperation, repeated: true, read: readExample},
	"derived":       {targets: onField, read: readFlag},
	"deprecated":    {targets: onAll, read: readDeprecated},
}

var annotationNames = func() (names []string) {
	for name := range annotationTable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// annotations checks and reads the annotations on one thing.
func (c *compiler) annotations(u *unit, list []*syntax.Annotation, on target) *settings {
	s := &settings{}
	if len(list) == 0 {
		return s
	}
	s.at = map[string]*syntax.Annotation{}
	for _, a := range list[:atMost(u, len(list), maxAnnotations, "annotations", func(i int) syntax.Span { return list[i].Span })] {
		name := a.Name.Name
		known, ok := annotationTable[name]
		switch {
		case name == "": // a syntax fault
		case !ok:
			d := u.fault(ruleUnknownAnnotation, a.Name.Span, "", "found unknown annotation \"@%s\"", name)
			if near, sure := c.nearest(name, annotationNames); near != "" {
				d.Hint = didYouMean("@" + near)
				if c.fits(a, near, on) && !s.has(near) {
					rewrite(d, a.Name.Span, near)
					if !sure {
						leave(d)
					}
				}
			}
		case known.targets&on == 0:
			u.fault(ruleAnnotationTarget, a.Name.Span, "", "found \"@%s\" on %s, expected it on %s", name, on, known.targets)
		case s.has(name) && !known.repeated:
			d := u.fault(ruleDuplicateAnnotation, a.Name.Span, "remove one of them", "found a second \"@%s\"", name)
			relate(d, s.at[name].Span, "the first is here")
			suggest(d, "remove this one", syntax.Edit{Span: a.Span})
			if len(a.Args) > 0 || len(s.at[name].Args) > 0 { // which of them is right?
				leave(d)
			}
		default:
			if !s.has(name) {
				s.at[name] = a
			}
			known.read(c, u, a, s)
		}
	}
	conflicts(u, s)
	return s
}

// conflicts reports annotations on one thing that contradict each other.
func conflicts(u *unit, s *settings) {
	var risks []*syntax.Annotation
	for _, name := range []string{"read_only", "mutating", "destructive"} {
		if s.has(name) {
			risks = append(risks, s.at[name])
		}
	}
	if len(risks) == 0 {
		return
	}
	slices.SortFunc(risks, byPosition)
	for _, a := range risks[1:] {
		contradiction(u, a, risks[0], "an operation has one risk")
	}
	if len(risks) > 1 {
		return
	}
	if told := s.at["informational"]; told != nil && !s.has("read_only") {
		contradiction(u, told, risks[0], "what only tells changes nothing")
	}
	if tried := s.at["dry_run"]; tried != nil && s.has("read_only") {
		contradiction(u, tried, risks[0], "what changes nothing needs no trial")
	}
}

func byPosition(a, b *syntax.Annotation) int {
	return a.Span.Start.Offset - b.Span.Start.Offset
}

// contradiction reports the later of two annotations.
func contradiction(u *unit, a, b *syntax.Annotation, why string) {
	if byPosition(a, b) < 0 {
		a, b = b, a
	}
	d := u.fault(ruleAnnotationConflict, a.Name.Span, "remove one of them", "found \"@%s\" beside \"@%s\": %s", a.Name.Name, b.Name.Name, why)
	relate(d, b.Name.Span, "the other is here")
}

// noArgs reports arguments of an annotation that takes none.
func noArgs(u *unit, a *syntax.Annotation) {
	if len(a.Args) > 0 {
		d := u.fault(ruleAnnotationArguments, argsSpan(a), "", "found %s of \"@%s\", expected none", count(len(a.Args), "argument"), a.Name.Name)
		suggest(d, "remove them", syntax.Edit{Span: until(a.Span.File, a.Name.Span.End, a.Span.End)})
		leave(d) // as false they deny it
	}
}

// argsSpan returns the span of an annotation's arguments, or of the
// annotation if it has none.
func argsSpan(a *syntax.Annotation) syntax.Span {
	if len(a.Args) == 0 {
		return a.Span
	}
	s := a.Args[0].Span
	s.End = a.Args[len(a.Args)-1].Span.End
	return s
}

// oneArg returns the only, positional argument, or nil after a fault.
func oneArg(u *unit, a *syntax.Annotation, want string) *syntax.Value {
	switch {
	case len(a.Args) == 0:
		u.fault(ruleAnnotationArguments, a.Span, "", "found \"@%s\" without an argument, expected %s", a.Name.Name, want)
	case len(a.Args) > 1:
		u.fault(ruleAnnotationArguments, argsSpan(a), "", "found %d arguments of \"@%s\", expected %s", len(a.Args), a.Name.Name, want)
	case a.Args[0].Name != nil:
		u.fault(ruleAnnotationArguments, a.Args[0].Span, "", "found a named argument of \"@%s\", expected %s", a.Name.Name, want)
	default:
		return a.Args[0].Value
	}
	return nil
}

func readFlag(_ *compiler, u *unit, a *syntax.Annotation, _ *settings) { noArgs(u, a) }

func readRisk(r Risk) func(*compiler, *unit, *syntax.Annotation, *settings) {
	return func(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
		noArgs(u, a)
		s.risk = r
	}
}

func readCost(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	want := fmt.Sprintf("an integer from 1 to %d", maxCost)
	v := oneArg(u, a, want)
	if v == nil {
		return
	}
	n, err := strconv.Atoi(v.Text)
	if v.Kind != syntax.NumberValue || err != nil || n < 1 || n > maxCost {
		u.fault(ruleAnnotationArguments, v.Span, "", "found %s, expected %s", literalText(v), want)
		return
	}
	s.cost = n
}

func readTimeout(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	const want = "a duration from 1ms to 10m, such as 3s"
	v := oneArg(u, a, want)
	if v == nil {
		return
	}
	ms, ok := quantity(v, durationUnits)
	if v.Kind != syntax.QuantityValue || !ok || ms < 1 || time.Duration(ms)*time.Millisecond > maxTimeout {
		u.fault(ruleAnnotationArguments, v.Span, unitHint(v, durationUnits), "found %s, expected %s", literalText(v), want)
		return
	}
	s.timeout = time.Duration(ms) * time.Millisecond
}

func readMaxOutput(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	const want = "a size from 1B to 16MiB, such as 32KiB"
	v := oneArg(u, a, want)
	if v == nil {
		return
	}
	n, ok := quantity(v, sizeUnits)
	if v.Kind != syntax.QuantityValue || !ok || n < 1 || n > maxMaxOutput {
		u.fault(ruleAnnotationArguments, v.Span, unitHint(v, sizeUnits), "found %s, expected %s", literalText(v), want)
		return
	}
	s.maxOutput = int(n)
}

func readAudience(c *compiler, u *unit, a *syntax.Annotation, s *settings) {
	if len(a.Args) == 0 {
		u.fault(ruleAnnotationArguments, a.Span, "", "found \"@audience\" without an argument, expected one or more audiences")
	}
	seen := map[Audience]bool{}
	for _, arg := range a.Args {
		if arg.Name != nil || arg.Value == nil || arg.Value.Kind != syntax.NameValue {
			d := u.fault(ruleAnnotationArguments, arg.Span, "", "found %s, expected an audience's bare name", argText(arg))
			if v := arg.Value; arg.Name == nil && v != nil && v.Kind == syntax.StringValue {
				if who, ok := ParseAudience(v.Text); ok && who != SchedulerRun && !seen[who] {
					rewrite(d, v.Span, v.Text)
				}
			}
			continue
		}
		name := arg.Value.Text
		who, ok := ParseAudience(name)
		switch {
		case !ok:
			named := audienceNames[PublicChat:SchedulerRun]
			d := u.fault(ruleUnknownAudience, arg.Span, "", "found unknown audience %q, expected one of %s", name, strings.Join(named, ", "))
			c.meant(d, arg.Span, name, named)
		case who == SchedulerRun:
			u.fault(ruleUnknownAudience, arg.Span, "a scheduler's run needs a grant for each operation, whatever a document says", "found audience %q, which a document cannot name", name)
		case seen[who]:
			u.fault(ruleAnnotationArguments, arg.Span, "remove one of them", "found audience %q twice", name)
		default:
			seen[who] = true
			if s.audience == 0 || who < s.audience {
				s.audience = who
			}
		}
	}
}

func readAlias(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	if len(a.Args) == 0 {
		u.fault(ruleAnnotationArguments, a.Span, "", "found \"@alias\" without an argument, expected one or more strings")
	}
	for _, arg := range a.Args {
		if arg.Value == nil || arg.Value.Kind != syntax.StringValue {
			d := u.fault(ruleAnnotationArguments, arg.Span, "", "found %s, expected a string", argText(arg))
			if v := arg.Value; v != nil && v.Kind == syntax.NameValue {
				rewrite(d, v.Span, strconv.Quote(v.Text))
			}
			continue
		}
		tag, ok := languageOf(arg)
		text := arg.Value.Text
		switch {
		case !ok:
			u.fault(ruleAnnotationArguments, arg.Name.Span, `a tag is a language and perhaps a region, such as de or pt_BR`,
				"found %q, expected the tag of a language", arg.Name.Name)
		case !isWords(text):
			u.fault(ruleAnnotationArguments, arg.Span, "", "found %s, expected words without control characters or space around them", notWords(text))
		case len(text) > maxAliasBytes:
			u.fault(ruleTooLong, arg.Span, "", "found an alias of %d bytes, expected at most %d", len(text), maxAliasBytes)
		case slices.ContainsFunc(s.aliases, func(other Alias) bool { return strings.EqualFold(other.Text, text) }):
			u.fault(ruleAnnotationArguments, arg.Span, "remove one of them", "found alias %q twice", text)
		case len(s.aliases) == maxAliases:
			u.fault(ruleTooMany, arg.Span, "", "found more than %d aliases of one operation", maxAliases)
			return
		default:
			s.aliases = append(s.aliases, Alias{text, tag})
		}
	}
}

// languageOf returns the BCP 47 tag that an argument's name stands for, with
// "_" for "-", and whether it is one; "" if it has no name.
func languageOf(arg *syntax.Arg) (string, bool) {
	if arg.Name == nil {
		return "", true
	}
	tag, err := language.Parse(arg.Name.Name)
	return tag.String(), err == nil && tag != language.Und
}

func readDeprecated(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	const want = `what to use instead in quotes, such as "use other_operation"`
	v := oneArg(u, a, want)
	switch {
	case v == nil:
	case v.Kind != syntax.StringValue || v.Text == "":
		u.fault(ruleAnnotationArguments, v.Span, "", "found %s, expected %s", literalText(v), want)
	case !isWords(v.Text):
		u.fault(ruleAnnotationArguments, v.Span, "", "found %s, expected words without control characters or space around them", notWords(v.Text))
	case len(v.Text) > maxUseBytes:
		u.fault(ruleTooLong, v.Span, "", "found %d bytes of \"@deprecated\", expected at most %d", len(v.Text), maxUseBytes)
	default:
		s.deprecated = v.Text
	}
}

func readExample(_ *compiler, u *unit, a *syntax.Annotation, s *settings) {
	if len(s.examples) == maxExamples {
		u.fault(ruleTooMany, a.Span, "", "found more than %d examples of one operation", maxExamples)
		return
	}
	s.examples = append(s.examples, a) // read once the parameters are known
}
