package lint

import "github.com/wipagent/wipagent/idl/syntax"

// The rule IDs of Lint. They are stable: an ID is never renamed, and keeps its
// meaning.
const (
	// RulePackageCase: a package's name is not in lower case.
	RulePackageCase = "package-case"
	// RuleDeclarationCase: a declaration's name is not in PascalCase.
	RuleDeclarationCase = "declaration-case"
	// RuleMemberCase: a member's name is not in snake_case.
	RuleMemberCase = "member-case"
	// RuleNameStutter: a name repeats what stands around it.
	RuleNameStutter = "name-stutter"
	// RuleDocMissing: something has no documentation that needs it.
	RuleDocMissing = "doc-missing"
	// RuleDocLong: a documentation is longer than a model should have to read.
	RuleDocLong = "doc-long"
	// RuleDocRestates: a documentation says no more than the name.
	RuleDocRestates = "doc-restates"
	// RuleUnitMissing: a measure does not say its unit.
	RuleUnitMissing = "unit-missing"
	// RuleUnitConflict: a name says another unit than its type has.
	RuleUnitConflict = "unit-conflict"
	// RuleUnboundedString: a caller may send a string of any length.
	RuleUnboundedString = "unbounded-string"
	// RuleUnboundedList: a list or map may have any number of elements.
	RuleUnboundedList = "unbounded-list"
	// RuleUnboundedPage: a page may be asked for in any size.
	RuleUnboundedPage = "unbounded-page"
	// RuleExampleMissing: an operation with required arguments has no example.
	RuleExampleMissing = "example-missing"
	// RuleAliasMissing: an operation has too few aliases to be found by.
	RuleAliasMissing = "alias-missing"
	// RuleAliasShared: two operations have the same alias.
	RuleAliasShared = "alias-shared"
	// RuleRiskUnstated: an operation does not state its risk.
	RuleRiskUnstated = "risk-unstated"
	// RuleDryRunMissing: an operation that changes things has no dry run.
	RuleDryRunMissing = "dry-run-missing"
	// RuleDeprecatedUse: a deprecation does not say what to use instead.
	RuleDeprecatedUse = "deprecated-use"
	// RuleDeprecatedType: something that is not deprecated is made of
	// something that is.
	RuleDeprecatedType = "deprecated-type"
	// RuleReservedWord: a name is a reserved word of a generated language.
	RuleReservedWord = "reserved-word"
	// RuleToolName: an operation's name as a tool is too long.
	RuleToolName = "tool-name"
	// RuleToolCollision: two operations have the same name as tools.
	RuleToolCollision = "tool-collision"
	// RuleBindingCollision: two things have the same name in a binding.
	RuleBindingCollision = "binding-collision"
)

type rule = syntax.Rule

var rules = []rule{
	{ID: RulePackageCase, Doc: "A package's name is not in lower case."},
	{ID: RuleDeclarationCase, Doc: "The name of an interface, record or enum is not in PascalCase."},
	{ID: RuleMemberCase, Doc: "The name of an operation, parameter, field or label is not in snake_case."},
	{ID: RuleNameStutter, Doc: "A name repeats the name around it, or a word, or says what kind of thing it names."},
	{ID: RuleDocMissing, Doc: "An interface, operation, parameter, record or enum has no doc comment."},
	{ID: RuleDocLong, Doc: "A doc comment is longer than 400 characters, or its first sentence longer than 120."},
	{ID: RuleDocRestates, Doc: "A doc comment of a member says no more than its name does."},
	{ID: RuleUnitMissing, Doc: "A measure says its unit neither in its name nor in its documentation."},
	{ID: RuleUnitConflict, Doc: "The name of a duration or timestamp says another unit than milliseconds, in which it is."},
	{ID: RuleUnboundedString, Doc: "A string or bytes that a caller sends has no maximum length."},
	{ID: RuleUnboundedList, Doc: "A list or map has no maximum number of elements."},
	{ID: RuleUnboundedPage, Doc: "The parameter `page_size` has no maximum, or one above 100."},
	{ID: RuleExampleMissing, Doc: "An operation with required parameters has no `@example`."},
	{ID: RuleAliasMissing, Doc: "An operation has no `@alias` by which people would find it."},
	{ID: RuleAliasShared, Doc: "Two operations have the same alias."},
	{ID: RuleRiskUnstated, Doc: "An operation states none of `@read_only`, `@mutating` and `@destructive`."},
	{ID: RuleDryRunMissing, Doc: "An operation that is mutating or destructive has no `@dry_run`."},
	{ID: RuleDeprecatedUse, Doc: "What `@deprecated` says does not begin with `use`."},
	{ID: RuleDeprecatedType, Doc: "A member that is not deprecated, and in nothing that is, has the type of a record, enum or interface that is."},
	{ID: RuleReservedWord, Doc: "A name is a reserved word or a type of Go, Python or TypeScript, where bindings would use it as it is."},
	{ID: RuleToolName, Doc: "An operation's name as a provider's tool, interface_operation, is longer than 64 bytes."},
	{ID: RuleToolCollision, Doc: "Two operations have the same name as a provider's tools, but for capitals and underscores."},
	{ID: RuleBindingCollision, Doc: "Two names of one package become one name in a generated binding."},
}

// Rules returns every rule that Lint has, in the order of spec/idl.md. The
// caller owns the slice.
func Rules() []syntax.Rule { return append([]syntax.Rule(nil), rules...) }
