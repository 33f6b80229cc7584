package gen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

// references generates the reference in both forms.
func references(list []*idl.Document, opt *gen.DocOptions) []gen.File {
	files := []gen.File{{Name: "reference.html", Data: gen.HTML(list, opt)}}
	for _, f := range gen.Markdown(list, opt) {
		files = append(files, gen.File{Name: "markdown/" + f.Name, Data: f.Data})
	}
	return files
}

// TestReferencesHoldTogether makes documents up and checks that every link of
// their references leads to one place, and that no documentation becomes markup.
func TestReferencesHoldTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	opt := &gen.DocOptions{Schemas: func(o *idl.Operation) (arguments, result json.RawMessage) {
		return json.RawMessage(`{"title":"</script><script>"}`), json.RawMessage(`{}`)
	}}
	for n := 0; n < 60; n++ {
		list, err := compileTexts((&maker{Rand: random}).archive())
		if err != nil {
			continue
		}
		files := references(list, opt)
		checkHTML(t, files[0].Data)
		checkMarkdown(t, files[1:])
		if t.Failed() {
			t.Fatalf("document %d", n)
		}
	}
}

var allowedTags = strings.Fields("html head meta title style body nav main ul li a h1 h2 h3 p code pre table thead tbody tr th td details summary")

func checkHTML(t *testing.T, page []byte) {
	t.Helper()
	ids, links, open := map[string]int{}, []string{}, []string{}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if z.Err() != io.EOF {
				t.Error(z.Err())
			}
			break
		}
		token := z.Token()
		if kind == html.StartTagToken || kind == html.EndTagToken {
			if !slices.Contains(allowedTags, token.Data) {
				t.Errorf("found tag %s", token.Data)
			}
		}
		switch {
		case kind == html.StartTagToken && token.Data != "meta":
			open = append(open, token.Data)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Errorf("found </%s> in %v", token.Data, open)
				return
			}
			open = open[:len(open)-1]
		}
		for _, a := range token.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				links = append(links, a.Val)
			case "src", "onclick", "style":
				t.Errorf("found attribute %s", a.Key)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("found id %s %d times", id, n)
		}
	}
	for _, l := range links {
		if id, ok := strings.CutPrefix(l, "#"); !ok || ids[id] == 0 {
			t.Errorf("found link to %s, which leads nowhere", l)
		}
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^)]*)\)`)
	markdownID   = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	markdownHTML = regexp.MustCompile(`</?([a-z]+)[^>]*>`)
	codeSpans    = regexp.MustCompile("`[^`\n]*`")
	fences       = regexp.MustCompile("(?ms)^```.*?^```$")
)

func checkMarkdown(t *testing.T, files []gen.File) {
	t.Helper()
	targets := map[string]bool{}
	for _, f := range files {
		name := strings.TrimPrefix(f.Name, "markdown/")
		targets[name] = true
		for _, m := range markdownID.FindAllSubmatch(f.Data, -1) {
			id := fmt.Sprintf("%s#%s", name, m[1])
			if targets[id] {
				t.Errorf("found id %s twice", id)
			}
			targets[id] = true
		}
	}
	for _, f := range files {
		name := strings.TrimPrefix(f.Name, "markdown/")
		text := fences.ReplaceAllString(string(f.Data), "")
		text = codeSpans.ReplaceAllString(strings.ReplaceAll(text, "\\`", ""), "code")
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			to := m[1]
			if strings.HasPrefix(to, "#") {
				to = name + to
			}
			if !targets[to] {
				t.Errorf("%s: found link to %s, which leads nowhere", name, m[1])
			}
		}
		for _, m := range markdownHTML.FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"a", "code", "details", "summary"}, m[1]) {
				t.Errorf("%s: found markup %s", name, m[0])
			}
		}
	}
}
