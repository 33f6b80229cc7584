package gen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// maker makes documents up.
type maker struct {
	*rand.Rand
	b       strings.Builder
	records []string // declared, or to be; all may stand in results
	params  []string // those that may stand in parameters
	enums   []string
	ifaces  []string
}

// words are names that some language, or what is generated, has a use for.
var words = strings.Fields(`a b1 from class def self None True is lambda import type id list int str float bool bytes object property field
	cast dataclass Text Unknown Page FirstPage Observed Literal UUID Sequence Mapping TypeAlias annotations path space value args options
	page page_size items constructor then toString valueOf __proto__ __init__ _call prototype delete new this function default await async
	yield Promise Record Uint8Array String Number Object Array Error Symbol rt o decode encode labels_of_A Client Principal Path Invoker Call
	Corrected Fact Timestamp Millis entry invoke send member unmarshal_json UnmarshalJSON operation String_ error nil make len any go func
	range select chan var interface_ package_ X1 _1 _ __ URL_path http_id LSL snake_case_name camelCaseName PascalName Args region_near_args`)

var builtinTypes = strings.Fields("bool int float string text uuid timestamp duration bytes entry list map fact page observed")

func (m *maker) pick(from []string) string { return from[m.IntN(len(from))] }

// names draws n names that no document may confuse.
func (m *maker) names(n int) []string {
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		name := m.pick(words)
		if m.IntN(4) == 0 {
			name += "_" + m.pick(words)
		}
		folded := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if len(name) <= 64 && folded != "" && !seen[folded] || folded == "" && !seen[name] {
			seen[folded], seen[name] = true, true
			out = append(out, name)
		}
	}
	return out
}

// archive makes a document and one that it imports, of the same package or
// another.
func (m *maker) archive() map[string]string {
	texts := map[string]string{}
	texts["lib.wip"] = m.document(m.pick([]string{"lib", "main", "class", "runtime", "a.b"}), "")
	texts["main.wip"] = m.document(m.pick([]string{"main", "a_b", "connect", "index"}), `import "lib.wip";`)
	return texts
}

func (m *maker) document(pkg, imports string) string {
	m.b.Reset()
	fmt.Fprintf(&m.b, "package %s;\n%s\n", pkg, imports)
	var fresh []string
	for _, name := range m.names(12) {
		taken := false
		for _, used := range append(append(append(append([]string(nil), builtinTypes...), m.records...), m.enums...), m.ifaces...) {
			taken = taken || strings.EqualFold(strings.ReplaceAll(used, "_", ""), strings.ReplaceAll(name, "_", ""))
		}
		if !taken && len(fresh) < 8 {
			fresh = append(fresh, name)
		}
	}
	n := max(1, len(fresh)/4)
	enums, ifaces, records := fresh[:n], fresh[n:2*n], fresh[2*n:]
	m.enums, m.ifaces = append(m.enums, enums...), append(m.ifaces, ifaces...)
	for _, e := range enums {
		fmt.Fprintf(&m.b, "%senum %s { %s }\n", m.doc(), e, strings.Join(m.names(1+m.IntN(6)), ", "))
	}
	for i, r := range records {
		sent := i%2 == 0
		fmt.Fprintf(&m.b, "%srecord %s {\n", m.doc(), r)
		for _, f := range m.names(m.IntN(6)) {
			fmt.Fprintf(&m.b, "%s  %s: %s;\n", m.doc(), f, m.typ(!sent, r, 0))
		}
		m.b.WriteString("}\n")
		m.records = append(m.records, r)
		if sent {
			m.params = append(m.params, r)
		}
	}
	for _, i := range ifaces {
		fmt.Fprintf(&m.b, "%sinterface %s {\n", m.doc(), i)
		for _, o := range m.names(m.IntN(5)) {
			m.operation(o)
		}
		m.b.WriteString("}\n")
	}
	return m.b.String()
}

// doc writes documentation, some of which would end a comment.
func (m *maker) doc() string {
	return m.pick([]string{"", "", "/// Plain words.\n", "/// \"\"\" */ ''' ` \\ <b> &amp; {@link} # end\n", "/// Two\n/// lines\\\n"})
}

func (m *maker) operation(name string) {
	var params []string
	for _, p := range m.names(m.IntN(5)) {
		if strings.EqualFold(strings.ReplaceAll(p, "_", ""), "page") || strings.EqualFold(strings.ReplaceAll(p, "_", ""), "pagesize") {
			continue
		}
		params = append(params, "\n"+m.doc()+p+": "+m.param())
	}
	result := ""
	switch m.IntN(4) {
	case 0:
		result = m.typ(true, "", 0)
	case 1:
		if len(m.records) > 0 {
			result = fmt.Sprintf(m.pick([]string{"observed<%s>", "observed<fact<%s>>", "%s", "%s?", "fact<%s?>"}), m.pick(m.records))
			break
		}
		result = m.typ(true, "", 0)
	default:
		result = m.pick([]string{"page<%s>", "observed<page<%s>>", "observed<fact<page<%s>>>"})
		result = fmt.Sprintf(result, m.scalar(true))
		params = append(params, "page: int [1..] = 1", "page_size: int [1..9] = 3")
	}
	fmt.Fprintf(&m.b, "%s  %s%s(%s) -> %s;\n", m.doc(), m.pick([]string{"", "@read_only ", "@destructive @cost(2) ", "@timeout(1500ms) "}), name,
		strings.Join(params, ", "), result)
}

func (m *maker) param() string {
	switch m.IntN(3) {
	case 0:
		return m.pick([]string{
			`string = "a\"b\\c\n\u{1F600}"`, `string [..9 bytes] = ""`, "int = -3", "int [..5] = 5", "float = 1e-9", "bool = true", "duration = 2s",
			`uuid = "00000000-0000-4000-8000-00000000000a"`, `bytes = "AP8n"`, `entry = "/a b"`, "float [0..] = 0",
		})
	case 1:
		return m.typ(false, "", 0) + "?"
	}
	return m.typ(false, "", 0)
}

func (m *maker) scalar(result bool) string {
	if len(m.records) > 0 && result && m.IntN(3) == 0 {
		return m.pick(m.records)
	}
	if len(m.params) > 0 && !result && m.IntN(3) == 0 {
		return m.pick(m.params)
	}
	kinds := []string{"bool", "int", "float [0..1]", "string [..5 bytes]", "uuid", "timestamp", "duration [1..]", "bytes", "entry", `string [matching "[a-z]+\\."]`}
	if result {
		kinds = append(kinds, "text", "text [..9 bytes]")
	}
	kinds = append(kinds, m.enums...)
	if len(m.ifaces) > 0 {
		kinds = append(kinds, "entry<"+m.pick(m.ifaces)+">")
	}
	return m.pick(kinds)
}

// typ draws a type without a question mark; within is the record whose field it
// is.
func (m *maker) typ(result bool, within string, depth int) string {
	elem := func() string {
		t := m.typ(result, within, depth+1)
		if m.IntN(4) == 0 && !strings.HasPrefix(t, "fact<") && !strings.HasPrefix(t, "page<") {
			t += "?"
		}
		return t
	}
	if depth > 2 {
		return m.scalar(result)
	}
	switch n := m.IntN(12); {
	case n == 0:
		return "list<" + elem() + "> [..9]"
	case n == 1:
		return "list<" + elem() + ">"
	case n == 2:
		return "map<" + elem() + ">"
	case n == 3 && result:
		t := m.scalar(true)
		if m.IntN(2) == 0 {
			t = "list<" + elem() + ">"
		}
		return "fact<" + t + m.pick([]string{"", "?"}) + ">"
	case n == 4 && result && within != "" && depth == 0:
		return fmt.Sprintf(m.pick([]string{"page<%s>", "fact<page<%s>>"}), m.scalar(true))
	case n == 5 && result && within != "":
		return "list<" + within + ">"
	case n == 6 && result && within != "" && depth == 0:
		return "fact<" + within + ">"
	case n == 7 && within != "" && depth == 0:
		return within + "?"
	}
	return m.scalar(result)
}
