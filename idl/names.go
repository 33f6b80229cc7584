package idl

// BuiltinTypes returns the names of the built-in types, plain ones first. The
// caller owns the slice.
func BuiltinTypes() []string { return append([]string(nil), builtinNames[Bool:]...) }

// AnnotationInfo says where an annotation may stand.
type AnnotationInfo struct {
	Name     string   // without the "@"
	Targets  []string // "interface", "operation", "param", "record", "field", "enum"
	Repeated bool     // may stand several times on one thing
}

// targetWords are the names of targets in the order of their bits.
var targetWords = [...]string{"interface", "operation", "param", "record", "field", "enum"}

// Annotations returns every annotation of the language, sorted by name. The
// caller owns it.
func Annotations() []AnnotationInfo {
	list := make([]AnnotationInfo, len(annotationNames))
	for i, name := range annotationNames {
		a := annotationTable[name]
		list[i] = AnnotationInfo{Name: name, Repeated: a.repeated}
		for bit, word := range targetWords {
			if a.targets&(1<<bit) != 0 {
				list[i].Targets = append(list[i].Targets, word)
			}
		}
	}
	return list
}
