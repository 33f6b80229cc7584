package dialect_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// TestCommonPattern writes patterns for readers of other dialects; an empty
// result stands for one that has no such form.
func TestCommonPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		`[a-z]+`:            `^(?:[a-z]+)$`,
		`a|b`:               `^(?:a|b)$`,
		`^a$`:               `^(?:^a$)$`,
		`[A-Z]{2}-\d{3,}`:   `^(?:[A-Z]{2}-[0-9]{3,})$`,
		`a{1,2}?`:           `^(?:a{1,2}?)$`,
		`.`:                 `^(?:[^\n])$`,
		`[.]\.`:             `^(?:[.]\.)$`,
		`\w\W\s\S\D`:        `^(?:[A-Za-z0-9_][^A-Za-z0-9_][\t\n\f\r ][^\t\n\f\r ][^0-9])$`,
		`[\w\s-]`:           `^(?:[A-Za-z0-9_\t\n\f\r -])$`,
		`[^\d]`:             `^(?:[^0-9])$`,
		`a\-b\/c`:           `^(?:a-b/c)$`,
		`[a\-z\]]`:          `^(?:[a\-z\]])$`,
		`(a)(?:b)`:          `^(?:(a)(?:b))$`,
		`\{\}\[\]\(\)\|\^$`: `^(?:\{\}\[\]\(\)\|\^$)$`,
		`(?i)a`:             "",
		`(?P<n>a)`:          "",
		`\pL`:               "",
		`[[:alpha:]]`:       "",
		`[[a]`:              "",
		`[]a]`:              "",
		`[^]a]`:             "",
		`[a&&b]`:            "",
		`\ba`:               "",
		`\Qa.b\E`:           "",
		`\x41`:              "",
		`\Aa\z`:             "",
		`[\D]`:              "",
		`a{`:                "",
		`a{,2}`:             "",
		`a}`:                "",
		`a]`:                "",
		`^*`:                "",
		`é`:                 "",
		"\t":                "",
	} {
		got, ok := dialect.CommonPattern(pattern)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %s, %t, want %s", pattern, got, ok, want)
		}
	}
}

// TestPatternMeansTheSame compares a pattern with what is written for it, on
// texts that are likely to tell them apart.
func TestPatternMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{
			"a", "b", "-", `\-`, `\.`, ".", `\d`, `\w`, `\s`, `\S`, `\W`, `\D`, "[a-c]", `[^\w]`, `[\s\d]`, "[.-]", "(a|b)", "(?:a|)", "a?", `\d{1,2}`, "b*", "[ab]+?", "^", "$", "/",
		})
		text := ""
		for _, p := range rapid.SliceOfN(part, 1, 6).Draw(t, "pattern") {
			text += p
		}
		declared, err := regexp.Compile(`\A(?:` + text + `)\z`)
		if err != nil {
			return
		}
		common, ok := dialect.CommonPattern(text)
		if !ok {
			return
		}
		written, err := regexp.Compile(common)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", text, common, err)
		}
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab1-._ /\n\r\t\v\u2028é")), 0, 8, -1).Draw(t, "text")
		if declared.MatchString(s) != written.MatchString(s) {
			t.Fatalf("%s, written as %s, is told apart by %q", text, common, s)
		}
	})
}
