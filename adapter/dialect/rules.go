package dialect

// rules says what a provider's schemas can say. Each thing that they cannot
// becomes a Loss; where the value itself has no form, a convention stands for
// it, which a plan undoes.
type rules struct {
	strict  bool // the provider holds the model to the schema
	openAPI bool // types in capitals, and nullable as a keyword
	ordered bool // the order of an object's members is said, by propertyOrdering

	absent absence // how a member is left out
	closed bool    // an object can be closed to further members
	maps   bool    // an object may have any keys; else a map is a list of pairs
	open   bool    // an object may have any form; else it is JSON text in a string
	empty  bool    // an object may have no properties

	bounds   bool  // minimum, maximum
	lengths  bool  // minLength, maxLength
	patterns bool  // pattern
	sizes    sizes // minItems, maxItems
	counts   bool  // minProperties, maxProperties

	depth int // objects and lists in each other, the record being the first; 0 if unlimited
	// An enum of more values than these is allowed only so many characters; 0
	// if unlimited.
	enumValues, enumChars int
}

// absence is how a model leaves a member out.
type absence uint8

const (
	// omitted: it does not send it, or sends null if the type allows null.
	omitted absence = iota
	// omittedOnly: it does not send it; null is not offered where it says the
	// same, since a provider counts unions.
	omittedOnly
	// asNull: it sends null, since every property is required.
	asNull
)

// sizes is what can be said of a list's number of elements.
type sizes uint8

const (
	anySize   sizes = iota
	oneOrMore       // only minItems of 0 or 1
)

// portableRules are the common core: what every provider accepts of tools that
// are not strict, without any convention, so that what is sent is the record.
var portableRules = rules{
	absent: omitted, closed: true, maps: true, open: true, empty: true,
	bounds: true, lengths: true, patterns: true, counts: true,
}
