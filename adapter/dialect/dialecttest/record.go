package dialecttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// Record makes up an argument record that DecodeArgs takes without repair,
// often at the ends of what is allowed. Values are as json.Decoder reads them
// with UseNumber.
func Record(r *rand.Rand, params []*idl.Param) map[string]any {
	for {
		m := &recordMaker{Rand: r, nodes: 40 + 5*len(params), deep: r.IntN(4) == 0}
		record := map[string]any{}
		for _, p := range params {
			if p.Required() || r.IntN(3) > 0 {
				record[p.Name] = m.value(p.Type, 1)
			}
		}
		if len(JSON(record)) <= idl.MaxArgumentBytes/2 { // room for other forms of it
			return record
		}
	}
}

// JSON writes a made-up value. What it writes is the same for equal values.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // made-up values always have a JSON form
	}
	return b
}

type recordMaker struct {
	*rand.Rand
	nodes int  // that may yet be made up; then only what must be there is
	deep  bool // prefers long chains
}

func (m *recordMaker) value(t *idl.Type, depth int) any {
	m.nodes--
	if t.Optional && (m.nodes < 0 || depth > 16 || m.IntN(4) == 0 && !m.deep) {
		return nil
	}
	switch t.Kind {
	case idl.Bool:
		return m.IntN(2) == 0
	case idl.Int, idl.Timestamp, idl.Duration:
		return m.whole(t.Range)
	case idl.Float:
		return m.float(t.Range)
	case idl.String:
		if t.Pattern != nil {
			return matching(m.Rand, t.PatternText)
		}
		return m.words(m.size(t.Range, 1<<16, pick(m.Rand, 3, 8, 20)))
	case idl.UUID:
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", m.Uint32(), m.Uint32()>>16, m.Uint32()>>16, m.Uint32()>>16, m.Uint64()>>16)
	case idl.Bytes:
		b := make([]byte, m.size(t.Range, 1<<12, 9))
		for i := range b {
			b[i] = byte(m.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	case idl.Entry:
		return pick(m.Rand, "/", "/a", "/a b/é", "/grid/region", "/🧭/-_~/..."+strings.Repeat("/deep", m.IntN(200)))
	case idl.EnumOf:
		return t.Enum.Labels[m.IntN(len(t.Enum.Labels))].Name
	case idl.List:
		list := []any{}
		for range m.elements(t.Range, depth) {
			list = append(list, m.value(t.Elem, depth+1))
		}
		return list
	case idl.Map:
		of := map[string]any{}
		for n := m.elements(t.Range, depth); len(of) < n; {
			key := pick(m.Rand, "", "key", "value", "a/b", "~", "é 言葉", "__proto__", "A", "a", "null", strings.Repeat("k", 70))
			if m.IntN(3) == 0 {
				key += fmt.Sprint(m.IntN(100))
			}
			of[key] = m.value(t.Elem, depth+1)
		}
		return of
	case idl.RecordOf:
		of := map[string]any{}
		for _, f := range t.Record.Fields {
			if !f.Type.Optional || m.nodes > 0 && depth < 16 && (m.deep || m.IntN(2) == 0) {
				of[f.Name] = m.value(f.Type, depth+1)
			}
		}
		return of
	}
	panic(fmt.Sprintf("no caller sends the kind %d", t.Kind))
}

// size draws a size that a range allows.
func (m *recordMaker) size(r *idl.Range, most, usual int) int {
	low, high := 0, usual
	if r != nil && r.HasMin {
		low = int(r.Min)
		high = max(high, low)
	}
	if r != nil && r.HasMax {
		high = min(int(r.Max), most)
		if high > 100 && m.IntN(4) > 0 {
			high = max(low, 20)
		}
	}
	return pick(m.Rand, low, high, low+m.IntN(high-low+1), low+m.IntN(high-low+1))
}

// elements draws the size of a list or map; the further inside, the smaller.
func (m *recordMaker) elements(r *idl.Range, depth int) int {
	usual := max(0, 4-depth)
	if m.deep {
		usual = 1
	}
	n := m.size(r, 5, usual)
	low := 0
	if r != nil && r.HasMin {
		low = int(r.Min)
	}
	switch {
	case m.nodes < 0 || depth > 16:
		return low
	case m.deep:
		if r == nil || !r.HasMax || r.Max >= 1 {
			return max(low, 1)
		}
	}
	return n
}

const maxSafe = 1<<53 - 1

func ends(r *idl.Range, low, high float64) (float64, float64) {
	if r != nil && r.HasMin {
		low = r.Min
		high = max(high, low)
	}
	if r != nil && r.HasMax {
		high = r.Max
		low = min(low, high)
	}
	return low, high
}

func (m *recordMaker) whole(r *idl.Range) json.Number {
	low, high := ends(r, -maxSafe, maxSafe)
	if m.IntN(2) == 0 {
		low, high = ends(r, -1000, 1000)
	}
	span := int64(high) - int64(low)
	n := pick(m.Rand, int64(low), int64(high), int64(low)+m.Int64N(span+1))
	return json.Number(strconv.FormatInt(n, 10))
}

func (m *recordMaker) float(r *idl.Range) json.Number {
	low, high := ends(r, -math.MaxFloat64/2, math.MaxFloat64/2)
	if m.IntN(2) == 0 {
		low, high = ends(r, -1e3, 1e3)
	}
	n := pick(m.Rand, low, high, math.Min(high, math.Max(low, low/2+high/2)), math.Min(high, low+m.Float64()*(high-low)))
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		n = low + 0 // never -0
	}
	return json.Number(strconv.FormatFloat(n, pick[byte](m.Rand, 'g', 'e'), -1, 64))
}

// words makes up a string of n bytes: of one script, of several, or of what
// wire formats use themselves.
func (m *recordMaker) words(n int) string {
	var b strings.Builder
	wide := pick(m.Rand, "a", "é", "語", "🧭")
	for b.Len() < n {
		c := pick(m.Rand, wide, wide, wide, "w", " ", "é", "語", "🧭", `"`, `\`, "\n", "\u2028", "{", "0", "A")
		if b.Len()+len(c) > n {
			c = "x"
		}
		b.WriteString(c)
	}
	return b.String()
}
