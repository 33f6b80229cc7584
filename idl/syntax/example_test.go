package syntax_test

import (
	"fmt"

	"github.com/wipagent/wipagent/idl/syntax"
)

func ExampleParse() {
	file, faults := syntax.Parse("tracker.wip", []byte(`package tracker;

/// One issue of the tracker.
interface Issue {
  read_body() -> text;
  close(reason string) -> entry<Issue>
}
`))
	fmt.Println(file.Package.Name, file.Decls[0].DeclName().Name)
	for _, d := range faults {
		fmt.Println(d)
		fmt.Println("  hint:", d.Hint)
	}
	// Output:
	// tracker Issue
	// tracker.wip:6:16: found "string", expected ":" and a type [unexpected-token]
	//   hint: write name: type
	// tracker.wip:6:39: found "}", expected ";" [missing-semicolon]
	//   hint: end it with ";"
}

func ExampleFormat() {
	text, faults := syntax.Format("tracker.wip", []byte(`package tracker;
record Issue { title:text; // as reported
  @derived age : duration?; }`))
	fmt.Printf("%s%d faults", text, len(faults))
	// Output:
	// package tracker;
	//
	// record Issue {
	//   title: text; // as reported
	//   @derived age: duration?;
	// }
	// 0 faults
}
