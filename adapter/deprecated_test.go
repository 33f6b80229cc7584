package adapter_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
)

const deprecatedDocument = `package shop;

@read_only @audience(public_chat)
interface Shop0 {
  /// Finds wares.
  @alias("find wares") @deprecated("use search")
  find(
    /// What to find.
    word: string [1..40 bytes],
  ) -> Wares;

  /// Searches the wares.
  @alias("search wares") @example(words: "tea")
  search(
    /// What to look for.
    words: string [1..40 bytes],
    /// The most wares to return.
    @deprecated("use most") limit: int [1..9]?,
    @deprecated("use order") sorted: bool = false,
    most: int [1..9] = 5,
    order: Order = name,
  ) -> Wares;
}

/// What was found.
record Wares {
  names: list<string> [..9];
  /// How many.
  @deprecated("use total_matching") total: int;
  total_matching: int;
}

@deprecated("use Sorting")
enum Order { name, price }
`

// TestDeprecatedIsShown compares what a model is shown of what is deprecated
// with the golden file.
func TestDeprecatedIsShown(t *testing.T) {
	const golden = "testdata/deprecated.txtar"
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/m", published{document: deprecatedDocument, interfaces: 1}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: []byte("What a model is shown of what is deprecated.\n\n")}
	for _, call := range [][2]string{
		{"discover", `{"query":"find wares"}`},
		{"inspect", `{"target":"/m/shop"}`},
		{"inspect", `{"target":"/m/shop#search"}`},
	} {
		answer, ok := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, call[0], "", json.RawMessage(call[1]))
		if !ok || answer.Failed {
			t.Fatalf("%s: %s", call, answer.JSON)
		}
		var fields map[string]any
		if err := json.Unmarshal(answer.JSON, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "age_millis")
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(fields); err != nil {
			t.Fatal(err)
		}
		got.Files = append(got.Files, txtar.File{Name: strings.Join(call[:], " "), Data: b.Bytes()})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
