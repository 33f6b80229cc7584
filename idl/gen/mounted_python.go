package gen

import (
	"slices"
	"strings"
)

// PythonMounted returns the files that Python returns, of what is mounted alone,
// and the module mounted beside them: connect, and the entries as attributes.
// The same entries give the same bytes.
func PythonMounted(m *Mounted) []File {
	lang := pythonLanguage
	lang.types = append(slices.Clone(lang.types), "COMMAND")
	w := m.lay(lang, []string{"property"}, []string{"close", "space"})
	p := &python{naming: w.naming, module: &module{name: mountedModule}, uses: map[string]bool{}}
	for _, place := range w.classes {
		p.place(w, place)
	}
	p.connect(m.Command)
	files := append(pythonFiles(w.naming, mountedModule), File{mountedModule + ".py", visible(p.mounted(w))})
	for i := range files {
		files[i].Data = boundHeader(files[i].Data)
	}
	return files
}

// boundHeader says in a generated file's first line which command made it.
func boundHeader(data []byte) []byte {
	return []byte(strings.Replace(string(data), "wipagent idl gen", "wipagent bind", 1))
}

// mounted puts the header before the classes of places.
func (p *python) mounted(w *world) string {
	var b strings.Builder
	b.WriteString(pythonHeader)
	p.docstringTo(&b, "", "What was mounted when these bindings were made: entries are attributes by their paths.", "",
		"A file that COMMAND names is looked for where the program runs, unless connect is told cwd.")
	b.WriteString("\nfrom __future__ import annotations\n\n")
	p.imports(&b)
	b.WriteString("\n")
	names := []string{"COMMAND", "connect"}
	for _, place := range w.classes {
		names = append(names, place.class)
	}
	slices.Sort(names)
	writePythonAll(&b, names)
	b.WriteString(p.body.String())
	return b.String()
}

// place writes the class of one.
func (p *python) place(w *world, at *place) {
	base := "_rt.Remote"
	if at.base != nil {
		base = p.scope(at.base.Document) + p.of[at.base]
	}
	p.printf("\n\nclass %s(%s):\n", at.class, base)
	doc := []string{at.note()}
	if at == w.root {
		doc = append(doc, "", "Leaving its with block ends the connection.")
	}
	p.docstring("    ", doc...)
	p.printf("\n    __slots__ = ()\n")
	if at == w.root {
		p.worldMethods()
	}
	for i, child := range at.below {
		class := child.class
		if class == "" {
			class = p.scope(child.base.Document) + p.of[child.base]
		}
		p.printf("\n    @property\n    def %s(self) -> %s:\n", at.names[i], class)
		p.docstring("        ", child.note())
		p.printf("        return %s(self._space, %s)\n", class, pythonString(child.path))
	}
	for _, o := range at.own {
		p.operation(o.Interface, o)
	}
}

// worldMethods writes what the root's class has beside what is below it.
func (p *python) worldMethods() {
	p.printf(`
    def __init__(self, space: _rt.Space) -> None:
        super().__init__(space, "/")

    def __enter__(self) -> World:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; a second time does nothing."""
        self._space.close()

    @property
    def space(self) -> _rt.Space:
        """The connection, with the three verbs."""
        return self._space
`)
}

// connect writes the command, and the function that runs it.
func (p *python) connect(command []string) {
	p.printf("\n\nCOMMAND: %s[str] = (\n", p.use("Sequence"))
	for _, word := range command {
		p.printf("    %s,\n", pythonString(word))
	}
	p.printf(")\n")
	p.docstring("", "The server that connect starts: the world, and on whose behalf it is seen.")
	p.printf(`

def connect(
    *,
    command: Sequence[str] = COMMAND,
    cwd: str | None = None,
    env: %s[str, str] | None = None,
    timeout: float = 30.0,
) -> World:
    """Start a server and connect to it. Raises Unavailable if it does not start.

    For a server that is reached otherwise, World takes any Space.
    """
    return World(_rt.connect(command=command, cwd=cwd, env=env, timeout=timeout))
`, p.use("Mapping"))
}
