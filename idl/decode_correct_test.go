package idl_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"pgregory.net/rapid"
)

// call is a valid record, open to be spoilt at one place.
type call struct {
	o     *idl.Operation
	kids  []kid
	texts []string // the JSON of each kid
	at    int      // the member to spoil
}

func (c call) param() *idl.Param {
	i := slices.IndexFunc(c.o.Params, func(p *idl.Param) bool { return p.Name == c.kids[c.at].key })
	return c.o.Params[i]
}

// with returns the record with other text for the chosen member, without it if
// the text is empty.
func (c call) with(text string) string {
	texts := slices.Clone(c.texts)
	if c.at < len(texts) {
		texts[c.at] = text
	}
	return c.render(texts, "%q")
}

func (c call) render(texts []string, key string) string {
	var members []string
	for i, k := range c.kids {
		if texts[i] != "" {
			members = append(members, fmt.Sprintf(key, k.key)+":"+texts[i])
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// renamed returns the record with another key for the chosen member.
func (c call) renamed(key string) string {
	kids := slices.Clone(c.kids)
	kids[c.at].key = key
	c.kids = kids
	return c.with(c.text())
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func unquoted(s string) (out string) { json.Unmarshal([]byte(s), &out); return out }

func jsonOf(n float64) string { b, _ := json.Marshal(n); return string(b) }

// An argMistake spoils a record and says what the correction must be; an empty
// want leaves only that there is one. It returns "" if it does not apply.
type argMistake struct {
	name  string
	spoil func(call) (raw, want string)
	kinds []idl.Kind // to which it applies; empty if to all
}

// onMember makes a mistake that spoils one value of some kinds.
func onMember(name string, spoil func(c call, t *idl.Type, text string) (bad, good string), kinds ...idl.Kind) argMistake {
	return argMistake{name, func(c call) (string, string) {
		if c.at == len(c.kids) || c.texts[c.at] == "null" {
			return "", ""
		}
		t := c.kids[c.at].t
		if len(kinds) > 0 && !slices.Contains(kinds, t.Kind) {
			return "", ""
		}
		bad, good := spoil(c, t, c.texts[c.at])
		if bad == "" {
			return "", ""
		}
		if good == "drop" {
			return c.with(bad), c.with("")
		}
		return c.with(bad), c.with(good)
	}, kinds}
}

var numeric = []idl.Kind{idl.Int, idl.Float, idl.Timestamp, idl.Duration}

var argMistakes = []argMistake{
	onMember("too large", func(c call, t *idl.Type, _ string) (string, string) {
		if t.Range == nil || !t.Range.HasMax {
			return "", ""
		}
		return jsonOf(t.Range.Max + 3), jsonOf(t.Range.Max)
	}, numeric...),
	onMember("too small", func(c call, t *idl.Type, _ string) (string, string) {
		if t.Range == nil || !t.Range.HasMin {
			return "", ""
		}
		return quoted(jsonOf(t.Range.Min - 3)), jsonOf(t.Range.Min)
	}, numeric...),
	onMember("infinite", func(c call, t *idl.Type, _ string) (string, string) {
		if t.Range == nil || !t.Range.HasMax {
			return "", ""
		}
		return "1e400", jsonOf(t.Range.Max)
	}, numeric...),
	onMember("a fraction", func(c call, t *idl.Type, text string) (string, string) {
		return text + ".25", text
	}, idl.Int, idl.Timestamp, idl.Duration),
	onMember("a sloppy number", func(c call, t *idl.Type, text string) (string, string) {
		if text[0] == '-' {
			return "", ""
		}
		return "+0" + text, text
	}, numeric...),
	onMember("a number for a bool", func(c call, t *idl.Type, text string) (string, string) {
		return map[string]string{"true": "1", "false": "0"}[text], text
	}, idl.Bool),
	onMember("a Python bool", func(c call, t *idl.Type, text string) (string, string) {
		return map[string]string{"true": "True", "false": "False"}[text], text
	}, idl.Bool),
	onMember("a number for a string", func(c call, t *idl.Type, _ string) (string, string) {
		if t.Pattern != nil || t.Range != nil && (t.Range.Min > 5 || t.Range.HasMax && t.Range.Max < 5) {
			return "", ""
		}
		return "12.50", `"12.50"`
	}, idl.String),
	onMember("capitals against a pattern", func(c call, t *idl.Type, text string) (string, string) {
		if t.Pattern == nil {
			return "", ""
		}
		return quoted(" " + strings.ToUpper(unquoted(text))), text
	}, idl.String),
	onMember("single quotes", func(c call, t *idl.Type, text string) (string, string) {
		return "'" + unquoted(text) + "'", text
	}, idl.String, idl.UUID, idl.Entry, idl.EnumOf, idl.Bytes),
	onMember("a plain UUID", func(c call, t *idl.Type, text string) (string, string) {
		return strings.ToUpper(strings.ReplaceAll(text, "-", "")), text
	}, idl.UUID),
	onMember("base64 for addresses", func(c call, t *idl.Type, text string) (string, string) {
		bad := strings.NewReplacer("=", "", "+", "-", "/", "_").Replace(text)
		if bad == text {
			return "", ""
		}
		return bad, text
	}, idl.Bytes),
	onMember("a path without its slash", func(c call, t *idl.Type, text string) (string, string) {
		return `"` + text[2:], text
	}, idl.Entry),
	onMember("a mistyped label", func(c call, t *idl.Type, text string) (string, string) {
		if len(text) < 6 {
			return "", ""
		}
		return text[:2] + text[3:], text
	}, idl.EnumOf),
	onMember("one item for a list", func(c call, t *idl.Type, text string) (string, string) {
		items := c.kids[c.at].kids
		if len(items) != 1 || items[0].scalar == "" || items[0].scalar == "null" {
			return "", ""
		}
		return items[0].scalar, text
	}, idl.List),
	onMember("a list too long", func(c call, t *idl.Type, text string) (string, string) {
		if t.Range == nil || !t.Range.HasMax || len(c.kids[c.at].kids) != int(t.Range.Max) || t.Range.Max == 0 {
			return "", ""
		}
		return text[:len(text)-1] + "," + c.kids[c.at].kids[0].write(never) + "]", text
	}, idl.List),
	onMember("an unknown field of a record", func(c call, t *idl.Type, text string) (string, string) {
		return `{"zzqq":[{}]` + map[bool]string{true: "}", false: "," + text[1:]}[text == "{}"], text
	}, idl.RecordOf),
	onMember("a duplicate key", func(c call, t *idl.Type, text string) (string, string) {
		if len(c.kids[c.at].kids) == 0 {
			return "", ""
		}
		k := c.kids[c.at].kids[0]
		return "{" + quoted(k.key) + ":7," + text[1:], text
	}, idl.Map, idl.RecordOf),
	onMember("an object for a scalar", func(c call, t *idl.Type, text string) (string, string) {
		if t.Kind >= idl.List && t.Kind != idl.EnumOf || c.param().Required() {
			return "", ""
		}
		return `{"zz":1}`, "drop"
	}),
	onMember("nonsense", func(c call, t *idl.Type, text string) (string, string) {
		if t.Kind == idl.String || t.Kind == idl.Entry || t.Kind == idl.List || t.Kind == idl.Bytes || c.param().Required() {
			return "", ""
		}
		return `"?!"`, "drop"
	}),
	onMember("not a number", func(c call, t *idl.Type, text string) (string, string) {
		if c.param().Required() {
			return "", ""
		}
		return `NaN`, "drop"
	}, numeric...),
	onMember("null for a default", func(c call, t *idl.Type, text string) (string, string) {
		if t.Optional || c.param().Required() {
			return "", ""
		}
		return "null", "drop"
	}),
	{"an unknown field", func(c call) (string, string) {
		raw := c.with(c.text())
		return `{"zzqq":1` + map[bool]string{true: "}", false: "," + raw[1:]}[raw == "{}"], raw
	}, nil},
	{"a mistyped field", func(c call) (string, string) {
		if c.at == len(c.kids) {
			return "", ""
		}
		key := c.kids[c.at].key
		bad := key[:1] + key[2:3] + key[1:2] + key[3:] // no name has equal letters there
		return c.renamed(bad), c.with(c.text())
	}, nil},
	{"a field twice", func(c call) (string, string) {
		if c.at == len(c.kids) {
			return "", ""
		}
		raw := c.with(c.text())
		return "{" + quoted(c.kids[c.at].key) + ":[5]," + raw[1:], raw
	}, nil},
	{"a field under a foreign name", func(c call) (string, string) {
		if c.at == len(c.kids) || c.kids[c.at].t.Kind != idl.String || !c.param().Required() || c.texts[c.at] == `"do_it"` {
			return "", ""
		}
		return c.renamed("zzqq"), c.with(c.text())
	}, nil},
	{"two envelopes", func(c call) (string, string) {
		raw := c.with(c.text())
		return `{"arguments":{"arguments":` + raw + `}}`, raw
	}, nil},
	{"an envelope beside the name", func(c call) (string, string) {
		raw := c.with(c.text())
		return `{"name":"do_it","arguments":` + raw + `}`, raw
	}, nil},
	{"one member beside the envelope", func(c call) (string, string) {
		if c.at == len(c.kids) {
			return "", ""
		}
		key := quoted(c.kids[c.at].key)
		return `{"args":` + c.with("") + `,` + key + `:` + c.text() + `}`, c.with(c.text())
	}, nil},
	{"a list in order", func(c call) (string, string) {
		if len(c.kids) != len(c.o.Params) || len(c.kids) < 2 {
			return "", ""
		}
		return "[" + strings.Join(c.texts, ",") + "]", c.with(c.text())
	}, nil},
	{"a comma at the end", func(c call) (string, string) {
		raw := c.with(c.text())
		if raw == "{}" {
			return "", ""
		}
		return raw[:len(raw)-1] + ",}", raw
	}, nil},
	{"bare keys", func(c call) (string, string) {
		if len(c.kids) == 0 {
			return "", ""
		}
		return c.render(c.texts, "%s"), c.with(c.text())
	}, nil},
	{"a bracket too many", func(c call) (string, string) {
		raw := c.with(c.text())
		return raw + "}", raw
	}, nil},
}

func (c call) text() string {
	if c.at < len(c.texts) {
		return c.texts[c.at]
	}
	return ""
}

// TestMistakesAreCorrected makes one mistake in a valid record and expects
// the correction to undo it, or what comes nearest, and to leave all else.
func TestMistakesAreCorrected(t *testing.T) {
	for _, m := range argMistakes {
		t.Run(m.name, func(t *testing.T) {
			made := 0
			rapid.Check(t, func(t *rapid.T) {
				o, record := drawCall(t, m.kinds...)
				c := call{o: o, kids: record.kids}
				for _, k := range c.kids {
					c.texts = append(c.texts, k.write(never))
				}
				for c.at = range len(c.kids) + 1 {
					raw, want := m.spoil(c)
					if raw == "" {
						continue
					}
					made++
					_, err := o.DecodeArgs([]byte(raw))
					bad, ok := err.(*idl.ArgumentError)
					if !ok {
						t.Fatalf("%s: found no fault", raw)
					}
					if bad.Corrected == nil || string(plainText(bad.Corrected)) != string(plainText([]byte(want))) {
						t.Fatalf("%s: found the correction %s, expected %s\n%v", raw, bad.Corrected, want, err)
					}
					checkAnswer(t, o, raw)
				}
			})
			if made == 0 {
				t.Error("the mistake was never made")
			}
		})
	}
}

// plainText is the JSON with keys sorted, nulls kept.
func plainText(b []byte) []byte {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return b
	}
	b, _ = json.Marshal(v)
	return b
}

// TestCorrectionsPass makes several mistakes at once: whatever is offered
// must pass.
func TestCorrectionsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, record := drawCall(t)
		c := call{o: o, kids: record.kids}
		for _, k := range c.kids {
			c.texts = append(c.texts, k.write(func() bool { return rapid.IntRange(0, 5).Draw(t, "slip") == 0 }))
		}
		for c.at = range c.kids {
			junk := []string{"1e400", "null", "[]", "{}", `"?"`, `"\ud800"`, "NaN", "-0", `{"a":[1,{"b":2}]}`, `["x",2]`, `"9007199254740993"`, "0.5", `"{\"x\":1}"`, "12345678901234567890"}
			if rapid.Bool().Draw(t, "junk") {
				c.texts[c.at] = rapid.SampledFrom(junk).Draw(t, "value")
			}
		}
		checkAnswer(t, o, c.render(c.texts, "%q"))
	})
}
