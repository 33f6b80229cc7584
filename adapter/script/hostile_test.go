package script_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wipagent/wipagent/adapter/script"
)

// hostile are scripts that try to take more than they may. Each must end with an
// error that says why.
var hostile = map[string]string{
	"endless loop":                "while True: pass",
	"endless loop of calls":       "def f(): pass\nwhile True: f()",
	"string repetition":           "x = 'a' * (1 << 29)",
	"string repetition, bits":     "x = 'abcdefgh' * ((1 << 62) + 5)",
	"repetition from the left":    "x = (1 << 28) * 'ab'",
	"list repetition":             "x = [0] * (1 << 28)",
	"tuple repetition":            "x = (0,) * (1 << 28)",
	"bytes repetition":            "x = b'a' * (1 << 29)",
	"augmented repetition":        "x = 'a'\nfor i in range(40): x *= 2",
	"augmented list repetition":   "x = [0]\nfor i in range(40): x *= 2",
	"doubling":                    "x = 'a'\nfor i in range(64): x = x + x",
	"augmented doubling":          "x = 'a'\nfor i in range(64): x += x",
	"list doubling":               "x = [1]\nfor i in range(64): x = x + x",
	"augmented list doubling":     "x = [1]\nfor i in range(64): x += x",
	"extending itself":            "x = [1]\nfor i in range(64): x.extend(x)",
	"element doubling":            "x = {'a': 'a'}\nfor i in range(64): x['a'] += x['a']",
	"interpolation":               "x = 'aaaaaaaa'\nfor i in range(64): x = '%s%s%s' % (x, x, x)",
	"interpolation by name":       "x = {'a': 'a' * 1000}\ny = '%(a)s' * 100000 % x",
	"interpolation of a list":     "x = ['a' * 100000] * 100000\ny = '%s' % (x,)",
	"augmented interpolation":     "x = '%s%s'\nfor i in range(64): x %= (x, x)",
	"format":                      "x = 'aaaaaaaa'\nfor i in range(64): x = '{0}{0}{0}{0}'.format(x)",
	"format by name":              "('{a}' * 100000).format(a = 'b' * 100000)",
	"format of a list":            "'{}'.format(['a' * 100000] * 100000)",
	"replacement":                 "x = 'a' * 100000\ny = x.replace('a', x)",
	"replacement of nothing":      "x = 'a' * 1000000\ny = x.replace('', 'bbbbbbbb')",
	"join":                        "x = ('a' * 1000).join(['b' * 1000] * 100000)",
	"join of a generator":         "x = 'a'.join(('b' * 1000000).elems())\nwhile True: x = x.join([x, x, x])",
	"split":                       "x = [('a,' * 1000000).split(',') for i in range(100)]",
	"split into spaces":           "x = [('a ' * 1000000).split() for i in range(100)]",
	"rsplit with room":            "x = 'a b'.rsplit(None, 1 << 30)\ny = [('a ' * 1000000).rsplit(None, 999999) for i in range(100)]",
	"lines":                       "x = [('a\\n' * 1000000).splitlines() for i in range(100)]",
	"upper case":                  "x = 'a' * 4000000\ny = [x.upper() for i in range(1000)]",
	"range to list":               "list(range(1 << 40))",
	"range to tuple":              "tuple(range(1 << 40))",
	"range to set":                "set(range(1 << 40))",
	"range to sorted":             "sorted(range(1 << 40))",
	"range reversed":              "reversed(range(1 << 40))",
	"range enumerated":            "enumerate(range(1 << 40))",
	"range zipped":                "zip(range(1 << 40), range(1 << 40))",
	"range summed up":             "max(range(1 << 40))",
	"range added up":              "sum(range(1 << 40))",
	"strings added up":            "sum(['a' * 4000000] * 3, '')",
	"lists added up":              "while True: sum([[1] * 1000] * 1000, [])",
	"numbers added up":            "x = 1 << 60000\nwhile True: x = sum([x] * 1000)",
	"range all":                   "all(range(1, 1 << 40))",
	"range any":                   "any([0] * 1000000 + list(range(1)))\nany(reversed(range(1 << 40)))",
	"range to bytes":              "bytes(range(1 << 40))",
	"range to dict":               "dict(zip(range(1 << 40), range(1 << 40)))",
	"range extended":              "x = []\nx.extend(range(1 << 40))",
	"range added":                 "x = []\nx += range(1 << 40)",
	"range as arguments":          "print(*range(1 << 40))",
	"range in a comprehension":    "[0 for i in range(1 << 40)]",
	"comprehension of dicts":      "[{} for i in range(1 << 40)]",
	"comprehension of lists":      "[[] for i in range(1 << 40)]",
	"comprehension of functions":  "[lambda: i for i in range(1 << 40)]",
	"dict comprehension":          "{i: i for i in range(1 << 40)}",
	"nested comprehension":        "[[j for j in range(1 << 20)] for i in range(1 << 20)]",
	"many empty dicts":            "x = []\nwhile True: x.append([" + strings.Repeat("{},", 1000) + "])",
	"growing dict":                "x = {}\nwhile True: x[len(x)] = 0",
	"growing dict by pattern":     "x = {}\nwhile True: (x[len(x)], y) = 0, 0",
	"growing dict by loop":        "x = {}\nfor x[len(x)] in range(1 << 40): pass",
	"growing dict by default":     "x = {}\nwhile True: x.setdefault(len(x), 0)",
	"growing dict by update":      "x = {}\nwhile True: x.update([(len(x), 0)])",
	"growing dict by union":       "x = {}\nwhile True: x |= {len(x): 0}",
	"growing set":                 "x = set()\nwhile True: x.add(len(x))",
	"set union":                   "x = set(range(100000))\ny = [x | x for i in range(100000)]",
	"set difference":              "x = set(range(100000))\ny = [x - set() for i in range(100000)]",
	"set methods":                 "x = set(range(100000))\ny = [x.union(x) for i in range(100000)]",
	"growing list":                "x = []\nwhile True: x.append(0)",
	"growing list at the front":   "x = []\nwhile True: x.insert(0, 0)",
	"nested lists":                "x = []\nwhile True: x = [x]",
	"nested tuples":               "x = ()\nwhile True: x = (x,)",
	"nested tuples by enumerate":  "x = 0\nwhile True: x = enumerate([x])[0]",
	"nested tuples by zip":        "x = 0\nwhile True: x = zip([x])[0]",
	"nested tuples by items":      "x = 0\nwhile True: x = {x: 0}.items()[0]",
	"nested tuples by arguments":  "def f(*a): return a\nx = 0\nwhile True: x = f(x)",
	"nested tuples by lambda":     "f = lambda *a: a\nx = 0\nwhile True: x = f(x)",
	"nested tuples by addition":   "x = ()\nwhile True: x = () + tuple([x])",
	"shared tuples hashed":        "x = ('a',)\nfor i in range(60): x = (x, x)\n{x: 1}",
	"shared tuples compared":      "x = ('a',)\ny = ('a',)\nfor i in range(8): x, y = [x] * 1000, [y] * 1000\nx == y",
	"shared lists compared":       "x = [1]\ny = [1]\nfor i in range(9): x, y = [x] * 1000, [y] * 1000\nx == y",
	"shared lists ordered":        "x = [1]\ny = [1]\nfor i in range(9): x, y = [x] * 1000, [y] * 1000\nx < y",
	"shared lists sorted":         "x = [1]\nfor i in range(8): x = [x] * 1000\nsorted([x, x])",
	"shared lists looked for":     "x = [1]\ny = [1]\nfor i in range(8): x, y = [x] * 1000, [y] * 1000\nx in [y]",
	"shared lists found":          "x = [1]\ny = [1]\nfor i in range(8): x, y = [x] * 1000, [y] * 1000\n[y].index(x)",
	"shared lists printed":        "x = ['a']\nfor i in range(60): x = [x, x]\nprint(x)",
	"shared lists written":        "x = ['a']\nfor i in range(60): x = [x, x]\nstr(x)",
	"shared lists as JSON":        "x = ['a']\nfor i in range(60): x = [x, x]\njson.encode(x)",
	"shared lists as last value":  "x = ['a']\nfor i in range(60): x = [x, x]\nx",
	"shared lists in an error":    "x = ['a']\nfor i in range(60): x = [x, x]\nfail(x)",
	"shared lists as argument":    "x = ['a']\nfor i in range(60): x = [x, x]\ngrid.region.nearby_avatars(radius_meters=x)",
	"deep list printed":           "x = []\nfor i in range(100000): x = [x]\nprint(x)",
	"deep list as JSON":           "x = []\nfor i in range(100000): x = [x]\njson.encode(x)",
	"deep list compared":          "x, y = [], []\nfor i in range(100000): x, y = [x], [y]\nx == y",
	"cyclic list printed":         "x = []\nx.append(x)\nprint(x)\nx == x\njson.encode(x)",
	"big shift":                   "x = 1\nwhile True: x = x << 500",
	"big product":                 "x = 3\nwhile True: x = x * x",
	"augmented big product":       "x = 3\nwhile True: x *= x",
	"big literal":                 "x = " + strings.Repeat("9", 100000) + "\nwhile True: x = x * x",
	"big number read":             "int('9' * 1000000)",
	"big number as JSON":          "json.decode('9' * 4000000)",
	"JSON of empty objects":       "json.decode('[' + '{},' * 1000000 + '{}]')",
	"deep JSON":                   "json.decode('[' * 1000000)",
	"deep JSON indented":          "x = '1'\nfor i in range(90): x = '[' + x + ']'\njson.encode(json.decode('[' + (x + ',') * 20000 + '1]'), indent=8)",
	"output flood":                "while True: print('a' * 1000)",
	"output flood at once":        "print('a' * 4000000, 'a' * 4000000)",
	"slices":                      "x = [0] * 100000\ny = [x[:] for i in range(100000)]",
	"slices with steps":           "x = 'a' * 4000000\ny = [x[::-1] for i in range(100000)]",
	"dict copies":                 "x = {i: i for i in range(10000)}\ny = [dict(x) for i in range(100000)]",
	"dict lists":                  "x = {i: i for i in range(10000)}\ny = [x.items() for i in range(100000)]",
	"dict keys":                   "x = {i: i for i in range(10000)}\ny = [x.keys() for i in range(100000)]",
	"dict from arguments":         "x = {str(i): i for i in range(9000)}\ndef f(**k): return k\ny = [f(**x) for i in range(100000)]",
	"tuple from arguments":        "def f(*k): return k\ny = [f(*range(9000)) for i in range(100000)]",
	"arguments of builtins":       "y = [zip(*([range(100)] * 9000)) for i in range(100000)]",
	"attempts in attempts":        "x = [attempt] * 5000\nattempt(*x)",
	"attempts at limits":          "def f():\n  while True: pass\nwhile True: attempt(f)",
	"attempts at memory":          "def f(): return 'a' * (1 << 40)\nwhile True: attempt(f)",
	"sorting with a key":          "sorted([0] * 100000, key=lambda x: sorted([0] * 100000))",
	"sorting long strings":        "x = 'a' * 4000000\nsorted([x + str(i) for i in range(8)] * 100000)",
	"searching":                   "x = list(range(100000))\nwhile True: x.index(99999)",
	"removing":                    "x = list(range(100000))\nwhile True: x.remove(99999); x.append(99999)",
	"string searching":            "x = 'a' * 4000000\nwhile True: x.count('aaaaaaaab')",
	"calls":                       "while True: grid.region.world_location()",
	"calls without end":           "for i in range(1000): [a for a in grid.region.visible_objects(page_size=1)]",
	"look-ups":                    "for i in range(100000): attempt(entry, '/grid/x%d' % i)",
	"searches":                    "for i in range(100000): discover('who is near %d' % i)",
	"help":                        "while True: help(grid.region)",
	"long chain":                  "x = " + strings.Repeat("1+", 20000) + "1",
	"long chain of attributes":    "x = grid" + strings.Repeat(".region", 20000),
	"long chain of calls":         "x = grid" + strings.Repeat("()", 20000),
	"long chain of indices":       "x = grid" + strings.Repeat("[0]", 20000),
	"deep brackets":               "x = " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000),
	"deep lists":                  "x = " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
	"deep negation":               "x = " + strings.Repeat("not ", 20000) + "1",
	"deep minus":                  "x = " + strings.Repeat("-", 20000) + "1",
	"deep functions":              "x = " + strings.Repeat("lambda:", 20000) + "1",
	"deep choices":                "x = " + strings.Repeat("1 if 0 else ", 20000) + "1",
	"long choice":                 "if 0: pass\n" + strings.Repeat("elif 0: pass\n", 10000),
	"recursion":                   "def f(): f()\nf()",
	"recursion by a list":         "x = []\nx.append(lambda: x[0]())\nx[0]()",
	"recursion by sorted":         "x = []\nx.append(lambda y: sorted([1, 2], key=x[0]))\nx[0](1)",
	"nothing to compare with":     "set().difference()",
	"nothing to compare with, 2":  "set().symmetric_difference()",
	"loading":                     "load('/etc/passwd', 'x')",
	"the names of the checks":     "getattr(grid, '$made')",
	"changing builtins":           "len.x = 1",
	"string elements in a list":   "x = ('a' * 4000000).elems()\ny = str([x] * 1000000)",
	"bytes elements in a list":    "x = (b'a' * 4000000).elems()\nfail([x] * 1000000)",
	"bytes printed":               "x = b'\\xff' * 4000000\nprint([x] * 1000)",
	"freeing":                     "while True: x = 'a' * 4000000",
	"memory in functions":         "def f():\n  x = [0] * 100000\n  return lambda: x\ny = [f() for i in range(100000)]",
	"page elements":               "x = grid.region.visible_objects()\ny = [list(x.items) for i in range(1000000)]",
	"results kept":                "y = []\nwhile True: y.append(grid.region.visible_objects())",
	"inspections kept":            "y = []\nwhile True: y.append(inspect(grid.region))",
	"records in strings":          "x = grid.region.visible_objects()\ny = [str(x) for i in range(1000000)]",
	"titles":                      "x = 'aB ' * 1000000\ny = [x.title() + x.capitalize() + x.lower() for i in range(1000000)]",
	"max with a key":              "max([0] * 100000, key=lambda x: max([0] * 100000))",
	"partition":                   "x = 'a' * 4000000\ny = [x.partition('b') for i in range(10000000)]",
	"strip":                       "x = ' ' * 4000000\nwhile True: x.strip()",
	"in a long string":            "x = 'a' * 4000000\nwhile True: 'ab' in x",
	"equal long strings":          "x, y = 'a' * 4000000, 'a' * 4000000\nwhile True: x == y",
	"negative indices":            "x = [0] * 1000\ny = [x[-1:-1000:-1] for i in range(1000000)]",
	"augmented attribute":         "grid.region += 1",
	"augmented pattern":           "x, y = 1, 2\n(x, y) += 1",
	"tuple slices":                "x = tuple([0] * 100000)\ny = [x[1:] for i in range(1000000)]",
	"tuple products hashed":       "x = ('a' * 1000000,) * 1000\n{x: 1}",
	"keys of errors":              "x = ('a' * 1000000,) * 3\n{}[x]",
	"shared tuples as keys":       "x = ('a' * 100,)\nfor i in range(14): x = (x, x)\ny = {}\nfor i in range(1000000): y[(i, x)] = i",
	"error texts":                 "while True: attempt(fail, 'a' * 1000000)",
	"float texts":                 "x = [1e308 * i for i in range(100000)]\nwhile True: str(x)",
	"code points":                 "x = list(('a' * 4000000).codepoints())",
	"large integers as text":      "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [str(x) for i in range(1000000)]",
	"memory of large integers":    "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [x + i for i in range(1000000)]",
	"negated large integers":      "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [-x for i in range(1000000)]",
	"inverted large integers":     "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [~x for i in range(1000000)]",
	"divided large integers":      "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [x // 3 for i in range(1000000)]",
	"shifted large integers":      "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [x >> 1 for i in range(1000000)]",
	"remainders of large numbers": "x = (1 << 500)\nfor i in range(100): x = x << 500\ny = [(x - 1) % x for i in range(1000000)]",
}

// heap returns the bytes of live and not yet swept objects and of stacks.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() + s[1].Value.Uint64())
}

// TestHostile runs scripts that want too much: each ends by an error, the process
// never holds more than four times the limit of memory, and goes on. With
// WIPAGENT_MUTATIONS the limit is 64 MiB; else it is small, and what the text of a script and single values
// may have comes on top.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	c, _ := grid(t)
	limit, slack := int64(2<<20), int64(48<<20)
	if os.Getenv("WIPAGENT_MUTATIONS") != "" {
		limit, slack = 64<<20, 0
	}
	for name, src := range hostile {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			before := heap()
			var peak atomic.Int64
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					if now := heap() - before; now > peak.Load() {
						peak.Store(now)
					}
					select {
					case <-stop:
						return
					case <-time.After(500 * time.Microsecond):
					}
				}
			}()
			e := script.New(script.Config{Client: c, Principal: owner, Output: io.Discard, Limits: script.Limits{Memory: limit, Steps: uint64(limit) / 4, Time: 20 * time.Second}})
			start := time.Now()
			_, _, err := e.Eval(t.Context(), src+"\n\n")
			took := time.Since(start)
			close(stop)
			<-stopped
			runtime.KeepAlive(e)
			var fail *script.Error
			if !errors.As(err, &fail) {
				t.Fatalf("ended with %v", err)
			}
			if len(fail.Message) > 16<<10 {
				t.Errorf("the error has %d bytes", len(fail.Message))
			}
			if p := peak.Load(); p > 4*limit+slack {
				t.Errorf("held %d MiB", p>>20)
			}
			t.Logf("%s: %.200s; %d MiB in %s", name, fail.Message, peak.Load()>>20, took.Round(time.Millisecond))
			var out bytes.Buffer
			after := script.New(script.Config{Client: c, Principal: owner, Output: &out})
			if err := after.Run(t.Context(), "after", []byte("print(1 + 1)")); err != nil || out.String() != "2\n" {
				t.Errorf("afterwards: %q, %v", out.String(), err)
			}
		})
	}
}
