package adapter

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
)

// invokeRecord is the record of invoke, taken apart.
type invokeRecord struct {
	own       json.RawMessage // the verb's own fields as a record, to be checked
	arguments json.RawMessage // the operation's, unread; nil if there is no telling
	at        string          // JSON Pointer to own in what was sent
	// merged are the arguments with what stood beside them, where both were
	// sent: which of them are meant is for the operation to tell.
	merged  json.RawMessage
	repairs []idl.Repair
	faults  []idl.Fault // of own too, but not seen in it
	lost    bool        // what the arguments are cannot be told
}

// open returns a record without its end.
func open(record json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(string(record), "}"))
}

// split takes invoke's record apart into the verb's own fields and the
// operation's arguments, which stay unread. It puts right slips of form that
// leave each value its one place: the whole record in a string or an envelope,
// arguments in other capitals, the operation's arguments beside the verb's own
// fields, and no arguments at all for the empty record. A usual synonym of a
// field that is not there is a fault, but it is clear what is meant. Whatever is
// no such record is left to the check, which says so.
func split(raw json.RawMessage) invokeRecord {
	r := invokeRecord{own: raw}
	if !readable(string(raw)) {
		mended, ok := idl.Mend(raw)
		if !ok || len(mended.Faults) == 0 || !readable(string(mended.JSON)) {
			r.lost = true
			return r
		}
		r = split(mended.JSON)
		r.faults = append(mended.Faults, r.faults...)
		if mended.Cut { // of the arguments, too, more may have followed
			r.arguments, r.merged = open(r.arguments), open(r.merged)
		}
		return r
	}
	record := gjson.ParseBytes(raw)
	for record.Type == gjson.String && readable(record.Str) {
		record = gjson.Parse(record.Str)
		r.repair("", "read the record from a string")
	}
	if inner, key, alone := unwrapped(record); inner.Exists() {
		if !alone {
			r.faults = append(r.faults, idl.Fault{Path: "/" + key, Constraint: "found the record in here, expected its fields at the top and no others"})
		}
		record, r.at = inner, "/"+key
		r.repair("", "took the record out of an envelope")
	}
	switch list := record.Array(); {
	case record.IsObject():
		r.fields(record)
	case record.IsArray() && len(list) == 1: // a fault, but it is clear what is meant
		r.arguments = split(json.RawMessage(list[0].Raw)).arguments
		r.at = ""
	default:
		r.at = ""
	}
	return r
}

// fields sorts the fields of a record.
func (r *invokeRecord) fields(record gjson.Result) {
	const name = "arguments"
	var own, beside []string
	var others []gjson.Result   // keys and values of arguments that are written otherwise
	var unplaced []gjson.Result // those of beside
	target, operation, found := false, false, 0
	record.ForEach(func(key, value gjson.Result) bool {
		field := key.Raw + ":" + value.Raw
		switch folded := foldName(key.Str); {
		case key.Str == name:
			found++
			r.arguments = json.RawMessage(value.Raw)
		case folded == name:
			others = append(others, key, value)
		case folded == "target" || folded == "operation":
			own = append(own, field)
			target, operation = target || folded == "target", operation || folded == "operation"
		default:
			beside = append(beside, field)
			unplaced = append(unplaced, key, value)
		}
		return true
	})
	for _, slot := range []struct {
		name string
		sent *bool
	}{{"target", &target}, {"operation", &operation}} {
		if i := synonym(slot.name, unplaced); !*slot.sent && i >= 0 {
			own, *slot.sent = append(own, strconv.Quote(slot.name)+":"+unplaced[i+1].Raw), true
			r.faults = append(r.faults, idl.Fault{Path: "/" + unplaced[i].Str, Constraint: "unknown field, found " + strconv.Quote(unplaced[i].Str) + ", expected the name " + slot.name})
			beside, unplaced = slices.Delete(beside, i/2, i/2+1), slices.Delete(unplaced, i, i+2)
		}
	}
	if found > 1 {
		r.faults = append(r.faults, idl.Fault{Path: "/" + name, Constraint: "found the field twice, expected it once"})
	}
	switch {
	case found == 0 && len(others) == 2:
		r.arguments = json.RawMessage(others[1].Raw)
		r.repair("/"+others[0].Str, "read "+strconv.Quote(others[0].Str)+" as the field arguments")
	case len(others) > 0:
		for i := 0; i < len(others); i += 2 {
			r.faults = append(r.faults, idl.Fault{Path: "/" + others[i].Str, Constraint: "found the arguments more than once, expected them only in the field arguments"})
		}
	case found == 0 && len(beside) > 0 && target && operation:
		r.arguments = json.RawMessage("{" + strings.Join(beside, ",") + "}")
		r.repair("", "read the fields beside target and operation as the arguments")
		beside = nil
	case found == 0:
		r.arguments = json.RawMessage("{}")
		r.repair("/"+name, "took no arguments for the empty record")
	}
	if args := strings.TrimSpace(string(r.arguments)); found == 1 && len(beside) > 0 && strings.HasPrefix(args, "{") {
		inside := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(args, "{"), "}"))
		if inside != "" {
			inside += ","
		}
		r.merged = json.RawMessage("{" + inside + strings.Join(beside, ",") + "}")
	}
	r.own = json.RawMessage("{" + strings.Join(append(own, beside...), ",") + "}")
}

// synonyms are what models call the verb's own fields, folded.
var synonyms = map[string][]string{
	"target":    {"path", "entry", "object", "entrypath", "targetpath"},
	"operation": {"tool", "name", "function", "method", "operationname", "toolname", "functionname"},
}

// synonym returns where, in a list of keys and values, the one text is that can
// be the verb's field; -1 if there is none or more than one. The verb's own name
// says what kind of call it is, and nothing of the operation.
func synonym(field string, list []gjson.Result) int {
	found := -1
	for i := 0; i < len(list); i += 2 {
		if value := list[i+1]; len(list[i].Str) > 32 || !slices.Contains(synonyms[field], foldName(list[i].Str)) || value.Type != gjson.String || value.Str == "" || value.Str == "invoke" {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func (r *invokeRecord) repair(path, note string) {
	r.repairs = append(r.repairs, idl.Repair{Path: r.at + path, Note: note})
}

// foldName reduces a name to what its spellings have in common, as idl does,
// which does not export it.
func foldName(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// unwrapped returns what holds invoke's whole record: the record's only field, or
// one beside others that say what kind of call it is.
func unwrapped(record gjson.Result) (inner gjson.Result, key string, alone bool) {
	if !record.IsObject() || holdsCall(record) {
		return gjson.Result{}, "", false
	}
	n := 0
	record.ForEach(func(k, v gjson.Result) bool {
		n++
		if v.Type == gjson.String && readable(v.Str) {
			v = gjson.Parse(v.Str)
		}
		switch k.Str {
		case "function":
			if deeper, name, _ := unwrapped(v); deeper.Exists() {
				inner, key = deeper, k.Str+"/"+name
			}
		case "arguments", "args", "input", "params", "parameters", "invoke":
			if v.IsObject() && holdsCall(v) {
				inner, key = v, k.Str
			}
		}
		return true
	})
	return inner, key, n == 1 && !strings.Contains(key, "/")
}

// holdsCall reports whether a record says what is to be called.
func holdsCall(record gjson.Result) bool {
	return record.Get("target").Exists() && record.Get("operation").Exists()
}

// maxLevels is how deep a record of invoke may be nested: arguments as deep as
// the check of idl allows (32 levels, which it does not export), the record and
// an envelope.
const maxLevels = 34

// readable reports whether a text is JSON of a size that may be looked into: the
// time and the stack that a look takes grow with both.
func readable(text string) bool {
	return len(text) <= idl.MaxArgumentBytes && idl.Levels(text) <= maxLevels && gjson.Valid(text)
}
