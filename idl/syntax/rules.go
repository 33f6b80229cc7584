package syntax

// Rule is one kind of fault that Parse reports.
type Rule struct {
	ID  string // stable, as in Diagnostic.Rule
	Doc string // one sentence
}

// The rule IDs of Parse. They are part of the language's contract: an ID is
// never renamed, and a fault keeps its ID.
const (
	// RuleUnclosedBrace: a block is open where the next declaration starts or
	// the file ends.
	RuleUnclosedBrace = "unclosed-brace"
	// RuleUnclosedParen: a list in parentheses is never closed.
	RuleUnclosedParen = "unclosed-paren"
	// RuleUnclosedAngle: a list of type arguments is never closed.
	RuleUnclosedAngle = "unclosed-angle"
	// RuleUnclosedBracket: a refinement is never closed.
	RuleUnclosedBracket = "unclosed-bracket"
	// RuleUnterminatedString: a string has no closing quote on its line.
	RuleUnterminatedString = "unterminated-string"
	// RuleUnterminatedComment: a block comment is never closed.
	RuleUnterminatedComment = "unterminated-comment"
	// RuleBadEscape: a backslash in a string starts no known escape.
	RuleBadEscape = "bad-escape"
	// RuleBadCharacter: a character cannot stand where it does.
	RuleBadCharacter = "bad-character"
	// RuleBadNumber: a number is not written as numbers are, or is out of the
	// range that its place allows.
	RuleBadNumber = "bad-number"
	// RuleInvalidUTF8: the text is not UTF-8; reported once for a text.
	RuleInvalidUTF8 = "invalid-utf8"
	// RuleMissingSemicolon: a clause or member does not end with ";".
	RuleMissingSemicolon = "missing-semicolon"
	// RuleMissingComma: two elements of a list have no "," between them.
	RuleMissingComma = "missing-comma"
	// RuleMissingType: something else stands where a type must.
	RuleMissingType = "missing-type"
	// RuleMissingName: something else stands where a name must.
	RuleMissingName = "missing-name"
	// RuleMissingValue: something else stands where a value must.
	RuleMissingValue = "missing-value"
	// RuleMissingPackage: the document has no package clause.
	RuleMissingPackage = "missing-package"
	// RuleDuplicatePackage: the document has a second package clause.
	RuleDuplicatePackage = "duplicate-package"
	// RuleDuplicateVersion: the document has a second version clause.
	RuleDuplicateVersion = "duplicate-version"
	// RuleHeaderOrder: a package, version or import clause stands after a
	// declaration.
	RuleHeaderOrder = "header-order"
	// RuleUnexpectedToken: something stands where the grammar has no place for
	// it, and no rule above says it better.
	RuleUnexpectedToken = "unexpected-token"
	// RuleStrayDoc: a doc comment documents nothing.
	RuleStrayDoc = "stray-doc"
	// RuleTooLarge: the text or its number of tokens is over the limit.
	RuleTooLarge = "too-large"
	// RuleTooDeep: type arguments are nested over the limit.
	RuleTooDeep = "too-deep"
	// RuleTooManyFaults: there are more faults than Parse reports.
	RuleTooManyFaults = "too-many-faults"
)

// Rules returns every rule that Parse can report, in the order of the
// constants. The caller owns the slice.
func Rules() []Rule {
	return []Rule{
		{RuleUnclosedBrace, "A block is open where the next declaration starts or the file ends."},
		{RuleUnclosedParen, "A list in parentheses is never closed."},
		{RuleUnclosedAngle, "A list of type arguments is never closed."},
		{RuleUnclosedBracket, "A refinement is never closed."},
		{RuleUnterminatedString, "A string has no closing quote on its line."},
		{RuleUnterminatedComment, "A block comment is never closed."},
		{RuleBadEscape, "A backslash in a string starts no known escape."},
		{RuleBadCharacter, "A character cannot stand where it does."},
		{RuleBadNumber, "A number is not written as numbers are, or is out of the range that its place allows."},
		{RuleInvalidUTF8, "The text is not UTF-8; reported once for a text."},
		{RuleMissingSemicolon, "A clause or member does not end with a semicolon."},
		{RuleMissingComma, "Two elements of a list have no comma between them."},
		{RuleMissingType, "Something else stands where a type must."},
		{RuleMissingName, "Something else stands where a name must."},
		{RuleMissingValue, "Something else stands where a value must."},
		{RuleMissingPackage, "The document has no package clause."},
		{RuleDuplicatePackage, "The document has a second package clause."},
		{RuleDuplicateVersion, "The document has a second version clause."},
		{RuleHeaderOrder, "A package, version or import clause stands after a declaration."},
		{RuleUnexpectedToken, "Something stands where the grammar has no place for it."},
		{RuleStrayDoc, "A doc comment documents nothing."},
		{RuleTooLarge, "The text or its number of tokens is over the limit."},
		{RuleTooDeep, "Type arguments are nested over the limit."},
		{RuleTooManyFaults, "There are more faults than are reported."},
	}
}

// usualHint returns what to do about most faults of a rule, or "" if that
// differs from one to the next.
func usualHint(rule string) string {
	switch rule {
	case RuleUnclosedParen:
		return `close the list with ")"`
	case RuleUnclosedAngle:
		return `close the list with ">"`
	case RuleUnclosedBracket:
		return `close the refinement with "]"`
	case RuleMissingSemicolon:
		return `end it with ";"`
	case RuleMissingComma:
		return `put "," here`
	case RuleMissingType:
		return "a type is a name with its arguments, such as text or list<int>"
	case RuleMissingName:
		return "put a name here, made of letters, digits and _"
	case RuleMissingValue:
		return `a value is such as "text", 20, 3s, true or a label`
	}
	return ""
}
