package gen

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// TypeScriptMounted returns the files that TypeScript returns, of what is
// mounted alone, and the module mounted beside them: connect, and the entries as
// members. The same entries give the same bytes.
func TypeScriptMounted(m *Mounted) []File {
	w := m.lay(typescriptLanguage, nil, []string{"close"})
	t := &typescript{naming: w.naming, module: &module{name: mountedModule}, uses: map[string]bool{}}
	for _, place := range w.classes {
		for _, o := range place.own { // their arguments are those of the interface's module
			if t.args[o] != "" {
				t.args[o] = t.scope(o.Interface.Document) + t.args[o]
			}
		}
		t.place(w, place)
	}
	t.connect(m.Command)
	var b strings.Builder
	b.WriteString(typescriptHeader)
	comment(&b, "", "What was mounted when these bindings were made: entries are members by their paths.", "", "@module")
	t.imports(&b)
	b.WriteString(t.body.String())
	files := append(typescriptFiles(w.naming, mountedModule), File{mountedModule + ".ts", visible(b.String())})
	for i := range files {
		files[i].Data = boundHeader(files[i].Data)
	}
	return files
}

// place writes the class of one.
func (t *typescript) place(w *world, at *place) {
	base := "rt.Remote"
	if at.base != nil {
		base = t.scope(at.base.Document) + t.of[at.base]
	}
	t.printf("\n")
	t.comment("", "", at.note())
	t.printf("export class %s extends %s {\n", at.class, base)
	first := true
	member := func() {
		if !first {
			t.printf("\n")
		}
		first = false
	}
	if at == w.root {
		member()
		t.printf("  constructor(space: rt.Space) {\n    super(space, \"/\");\n  }\n\n")
		t.comment("  ", "", "Ends the connection; a second time does nothing.")
		t.printf("  close(): Promise<void> {\n    return this.space.close();\n  }\n")
	}
	for i, child := range at.below {
		class := child.class
		if class == "" {
			class = t.scope(child.base.Document) + t.of[child.base]
		}
		member()
		t.comment("  ", "", child.note())
		t.printf("  get %s(): %s {\n    return new %s(this.space, %s);\n  }\n", at.names[i], class, class, typescriptString(child.path))
	}
	for _, o := range at.own {
		member()
		t.operation(o.Interface, o)
	}
	t.printf("}\n")
}

// connect writes the command, and the function that runs it.
func (t *typescript) connect(command []string) {
	t.printf("\n")
	t.comment("", "", "The server that connect starts: the world, and on whose behalf it is seen. "+
		"A file that it names is looked for where the program runs, unless connect is told cwd.")
	t.printf("export const command: readonly string[] = [\n")
	for _, word := range command {
		t.printf("  %s,\n", typescriptString(word))
	}
	t.printf("];\n\n")
	t.comment("", "", "Starts a server and connects to it. Rejects with Unavailable if it does not start.", "",
		"For a server that is reached otherwise, World takes any Space.")
	t.printf(`export async function connect(options: rt.StdioOptions & { readonly timeoutMillis?: number } = {}): Promise<World> {
  return new World(await rt.connect({ ...options, command: options.command ?? command }));
}
`)
}

// typescriptString quotes a string; what is not printable ASCII is escaped, so
// that nothing in it can hide.
func typescriptString(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(s)) {
		switch {
		case unit == '"' || unit == '\\':
			out.WriteByte('\\')
			out.WriteByte(byte(unit))
		case unit >= ' ' && unit < 0x7f:
			out.WriteByte(byte(unit))
		default:
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	return out.String() + "\""
}
