package idl

import "strings"

// unwrap takes a record out of what it was needlessly put into: a JSON string
// that holds it, one envelope, or one of each. Both have nothing but the record
// in them, so no value is lost and the record has one reading.
func (d *decoder) unwrap(v sentValue) sentValue {
	v = d.unquote(v)
	if v.kind != sentObject || v.slip != "" || len(v.items) != 1 || v.items[0].slip != "" || !isEnvelope(d.op, v.items[0].key) {
		return v
	}
	key := v.items[0].key
	inner := v.items[0].value
	if text, ok := embedded(inner.text, sentObject, 1); ok && inner.kind == sentString && inner.slip == "" {
		d.repairAt(key, "read the string as the record that it holds")
		inner = text
	}
	if inner.kind != sentObject {
		return v
	}
	d.repairAt(key, "read the object in %s as the record", quoteSent(key))
	d.path = append(d.path, argStep{key, -1})
	return inner
}

// unquote reads a record that was sent as a JSON string.
func (d *decoder) unquote(v sentValue) sentValue {
	if v.kind == sentString && v.slip == "" {
		if inner, ok := embedded(v.text, sentObject, 0); ok {
			d.repair("read the string as the record that it holds")
			return inner
		}
		return d.misquoted(v, sentObject)
	}
	return v
}

// misquoted returns the object or list that a string holds which is not quite
// JSON, with a slip that says so; or notes why it cannot be read. A string that
// does not begin like one is returned as it is.
func (d *decoder) misquoted(v sentValue, want sentKind) sentValue {
	if text := strings.TrimSpace(v.text); text == "" || want == sentObject && text[0] != '{' || want == sentArray && text[0] != '[' {
		return v
	}
	inner, broken, _ := scanRecord(v.text) // whose places are not those of the record
	if broken != "" {
		salvaged, ok := salvage(v.text)
		if !ok {
			d.fault("%s", broken)
			return v
		}
		inner = salvaged
	}
	if inner.kind == want && inner.slip != "" {
		return inner
	}
	return v
}

// embedded reads the object or list that a string holds, at a depth of the
// record.
func embedded(text string, want sentKind, depth int) (sentValue, bool) {
	text = strings.Trim(text, " \t\r\n")
	if text == "" || want == sentObject && text[0] != '{' || want == sentArray && text[0] != '[' {
		return sentValue{}, false
	}
	s := scanner{src: text, depth: depth}
	v := s.value()
	v.cut = s.cut
	return v, s.broken == "" && s.pos == len(text)
}

// isEnvelope reports whether a key of a record is a word that models put
// around a record, and no parameter.
func isEnvelope(o *Operation, key string) bool {
	switch folded := fold(key); folded {
	case "arguments", "args", "input", "params", "parameters", "kwargs", "payload", "body", fold(o.Name):
		for _, p := range o.Params {
			if fold(p.Name) == folded {
				return false
			}
		}
		return true
	}
	return false
}

// placeOf finds the slot that a key names, exactly or in other capitals and with
// other separators. It returns -1 if there is none, and says so if there is
// more than one.
func placeOf(slots []slot, key string) (index int, ambiguous bool) {
	for i := range slots {
		if slots[i].name == key {
			return i, false
		}
	}
	index = -1
	folded := fold(key)
	for i := range slots {
		if folded != "" && fold(slots[i].name) == folded {
			if index >= 0 {
				return -1, true
			}
			index = i
		}
	}
	return index, false
}

// fold reduces a name to what its spellings have in common: radius_meters,
// radiusMeters, radius-meters and RADIUS METERS are all radiusmeters.
func fold(name string) string {
	b := make([]byte, 0, maxNearName)
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ' || c == '.':
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
