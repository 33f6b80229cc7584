package idl

import "github.com/wipagent/wipagent/idl/syntax"

// The rules that Compile checks; those that the parser checks are in the
// package syntax.
const (
	ruleDocumentNotFound    = "document-not-found"
	ruleImportNotFound      = "import-not-found"
	ruleImportPath          = "import-path"
	ruleImportCycle         = "import-cycle"
	ruleImportLimit         = "import-limit"
	ruleImportClash         = "import-clash"
	ruleDuplicateImport     = "duplicate-import"
	ruleDuplicateName       = "duplicate-name"
	ruleCollidingName       = "colliding-name"
	ruleReservedName        = "reserved-name"
	ruleTooLong             = "too-long"
	ruleTooMany             = "too-many"
	ruleTypeTooLarge        = "type-too-large"
	ruleUnknownType         = "unknown-type"
	ruleTypeArguments       = "type-arguments"
	ruleInterfaceAsType     = "interface-as-type"
	ruleNotAnInterface      = "not-an-interface"
	ruleBadNesting          = "bad-nesting"
	ruleBadOptional         = "bad-optional"
	ruleParameterType       = "parameter-type"
	rulePageParameters      = "page-parameters"
	ruleRecordCycle         = "record-cycle"
	ruleFieldCollision      = "field-collision"
	ruleRefinementType      = "refinement-type"
	ruleRangeUnit           = "range-unit"
	ruleRangeBound          = "range-bound"
	ruleEmptyRange          = "empty-range"
	ruleBadPattern          = "bad-pattern"
	rulePatternTooLarge     = "pattern-too-large"
	ruleUnknownAnnotation   = "unknown-annotation"
	ruleAnnotationTarget    = "annotation-target"
	ruleAnnotationArguments = "annotation-arguments"
	ruleDuplicateAnnotation = "duplicate-annotation"
	ruleAnnotationConflict  = "annotation-conflict"
	ruleUnknownAudience     = "unknown-audience"
	ruleExampleArguments    = "example-arguments"
	ruleDefaultOptional     = "default-optional"
	ruleDefaultType         = "default-type"
	ruleValueType           = "value-type"
	ruleValueRange          = "value-range"
	ruleUnknownLabel        = "unknown-label"
)

// meaningRules are Compile's own rules in the order of spec/idl.md.
var meaningRules = []syntax.Rule{
	{ID: ruleDocumentNotFound, Doc: "A document that was asked for cannot be loaded."},
	{ID: ruleImportNotFound, Doc: "An imported document cannot be loaded."},
	{ID: ruleImportPath, Doc: "An import is not a slash-separated relative path without `.` and `..`."},
	{ID: ruleImportCycle, Doc: "A document imports itself, directly or through others."},
	{ID: ruleImportLimit, Doc: "Too many documents, too many bytes, or imports nested too deeply."},
	{ID: ruleDuplicateImport, Doc: "A document is imported twice by the same document."},
	{ID: ruleImportClash, Doc: "An import brings a name that the document already has."},
	{ID: ruleDuplicateName, Doc: "A name is declared twice in the same place."},
	{ID: ruleCollidingName, Doc: "Two names in the same place differ only by capitals or underscores."},
	{ID: ruleReservedName, Doc: "A declaration has the name of a built-in type."},
	{ID: ruleTooLong, Doc: "A name, a doc comment, an alias or what is said of a deprecation is too long."},
	{ID: ruleTooMany, Doc: "A declaration has too many members or annotations."},
	{ID: ruleTypeTooLarge, Doc: "A record holds too many fields, or records nested too deeply, counted through the records in it."},
	{ID: ruleUnknownType, Doc: "A type name is neither built in nor declared nor imported."},
	{ID: ruleTypeArguments, Doc: "A type has the wrong number of type arguments."},
	{ID: ruleInterfaceAsType, Doc: "An interface stands where a type is expected."},
	{ID: ruleNotAnInterface, Doc: "The argument of `entry` is not an interface's bare name."},
	{ID: ruleBadNesting, Doc: "A wrapper stands where it has no meaning."},
	{ID: ruleBadOptional, Doc: "A `?` stands where it has no meaning."},
	{ID: ruleParameterType, Doc: "A parameter's type holds something that only results hold."},
	{ID: rulePageParameters, Doc: "An operation that returns a page lacks the parameters `page` and `page_size`, each `int [1..]`."},
	{ID: ruleRecordCycle, Doc: "A record holds itself with nothing between that can end it."},
	{ID: ruleFieldCollision, Doc: "A field has a name that a wrapper puts beside it."},
	{ID: ruleRefinementType, Doc: "A refinement stands on a type that it cannot refine."},
	{ID: ruleRangeUnit, Doc: "A length range lacks the unit `bytes`, or another range has it."},
	{ID: ruleRangeBound, Doc: "A bound of a range is not a number that its type allows."},
	{ID: ruleEmptyRange, Doc: "A range allows nothing, or everything."},
	{ID: ruleBadPattern, Doc: "A pattern is not a regular expression of RE2."},
	{ID: rulePatternTooLarge, Doc: "A pattern compiles to too large a program."},
	{ID: ruleUnknownAnnotation, Doc: "An annotation's name is not known."},
	{ID: ruleAnnotationTarget, Doc: "An annotation stands on something that it does not apply to."},
	{ID: ruleAnnotationArguments, Doc: "An annotation's arguments are not what it takes."},
	{ID: ruleDuplicateAnnotation, Doc: "An annotation is repeated."},
	{ID: ruleAnnotationConflict, Doc: "Two annotations contradict each other."},
	{ID: ruleUnknownAudience, Doc: "An audience is not known, or cannot be named in a document."},
	{ID: ruleExampleArguments, Doc: "An example's arguments are not a valid call of its operation."},
	{ID: ruleDefaultOptional, Doc: "A parameter has both a default and an optional type."},
	{ID: ruleDefaultType, Doc: "A parameter has a default although its type cannot have one."},
	{ID: ruleValueType, Doc: "A value is not of its type."},
	{ID: ruleValueRange, Doc: "A value is outside its type's refinement."},
	{ID: ruleUnknownLabel, Doc: "A value is not a label of its enum."},
}

// Rules returns every rule that Compile can report, those of the parser first.
// Their identifiers are stable: tools match on them, people look them up in
// spec/idl.md. The caller owns the slice.
func Rules() []syntax.Rule { return append(syntax.Rules(), meaningRules...) }
