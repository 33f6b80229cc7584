// Package recorded plays a model's provider on loopback, for tests of the agents
// beside it: it answers from files, and refuses what the provider would refuse.
package recorded

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
)

// Provider is what the tests of one provider know of it.
type Provider interface {
	// Check returns what the provider would refuse of a request, and the texts
	// of the results in it, oldest first.
	Check(r *http.Request, body gjson.Result) (results []string, faults []string)
	// Refusal returns the body of an answer that refuses a request.
	Refusal(message string) string
	// Events returns the data of the server-sent events that stream an answer.
	Events(answer gjson.Result) []string
}

// Server answers one request after the other.
type Server struct {
	URL string // without a slash at its end

	mu       sync.Mutex
	requests []gjson.Result
	last     *http.Request // its body is read
}

// Conversation is one file of testdata: what is asked, what the model answers
// to one request after the other, and what is printed at the end.
type Conversation struct {
	Name     string
	Args     []string // of the command; the question is the last
	Answers  []string // JSON; see Serve
	Printed  string
	Streamed string // what is printed of a stream; Printed if empty
	Fails    string // what the program says when it fails; empty if it does not
}

// Conversations reads testdata/*.txtar: the comment has an argument a line, the
// files answer.1, answer.2 and so on the answers, printed, streamed and fails the
// rest of a Conversation.
func Conversations(t testing.TB) []Conversation {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no testdata/*.txtar: %v", err)
	}
	var list []Conversation
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(raw)
		c := Conversation{Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), Args: strings.Split(strings.TrimSpace(string(a.Comment)), "\n")}
		for _, f := range a.Files {
			switch text := string(f.Data); {
			case f.Name == "printed":
				c.Printed = text
			case f.Name == "streamed":
				c.Streamed = text
			case f.Name == "fails":
				c.Fails = strings.TrimSpace(text)
			case f.Name == "answer."+strconv.Itoa(len(c.Answers)+1) && json.Valid(f.Data):
				c.Answers = append(c.Answers, text)
			default:
				t.Fatalf("%s: found the file %q, expected answer.%d with JSON", file, f.Name, len(c.Answers)+1)
			}
		}
		if c.Streamed == "" {
			c.Streamed = c.Printed
		}
		list = append(list, c)
	}
	return list
}

// Serve answers each request with the next answer, streamed if the request asks
// for that by its path or the member stream. In an answer "$corrected" stands for
// the last corrected call among the results sent, "$corrected_text" for that as
// text. A request that has faults is refused and fails the test, as does one for
// which there is no answer, and an answer that was never asked for.
func Serve(t testing.TB, p Provider, answers []string) *Server {
	t.Helper()
	s := &Server{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(format string, args ...any) {
			message := fmt.Sprintf(format, args...)
			t.Error(message)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, p.Refusal(message))
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil || !json.Valid(raw) {
			refuse("found a request that is no JSON: %v", err)
			return
		}
		body := gjson.ParseBytes(raw)
		s.mu.Lock()
		n := len(s.requests)
		s.requests, s.last = append(s.requests, body), r
		s.mu.Unlock()
		results, faults := p.Check(r, body)
		switch {
		case len(faults) > 0:
			refuse("request %d: %s", n+1, strings.Join(faults, "\n"))
			return
		case n >= len(answers):
			refuse("found request %d, expected %d", n+1, len(answers))
			return
		}
		if n > 0 && strings.Contains(answers[n-1], `"$corrected`) && gjson.Get(results[len(results)-1], "error").Exists() {
			refuse("request %d: the corrected call failed: %s", n+1, results[len(results)-1])
			return
		}
		answer, err := corrected(answers[n], results)
		if err != nil {
			refuse("answer %d: %v", n+1, err)
			return
		}
		if !body.Get("stream").Bool() && r.URL.Query().Get("alt") != "sse" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer)
			return
		}
		stream(w, p.Events(gjson.Get(answer, "@ugly")))
	}))
	s.URL = h.URL
	t.Cleanup(func() {
		h.Close()
		if n := len(s.Requests()); n != len(answers) {
			t.Errorf("found %d requests, expected %d", n, len(answers))
		}
	})
	return s
}

// stream sends events.
func stream(w http.ResponseWriter, events []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range events {
		if kind := gjson.Get(data, "type").Str; kind != "" {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// Requests returns the bodies that were sent, in their order.
func (s *Server) Requests() []gjson.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// corrected puts the last corrected call of the results into an answer.
func corrected(answer string, results []string) (string, error) {
	if !strings.Contains(answer, `"$corrected`) {
		return answer, nil
	}
	for _, result := range slices.Backward(results) {
		call := gjson.Get(result, "error.corrected_call")
		if !call.IsObject() {
			continue
		}
		compact := call.Get("@ugly").Raw
		text, err := json.Marshal(compact)
		answer = strings.ReplaceAll(answer, `"$corrected_text"`, string(text))
		return strings.ReplaceAll(answer, `"$corrected"`, compact), err
	}
	return "", fmt.Errorf("found no corrected call in the results %q, expected one", results)
}

// Unmarked returns what a result says without the lines of marks around a
// stranger's words.
func Unmarked(text string) string {
	if lines := strings.Split(text, "\n"); len(lines) == 3 && strings.HasPrefix(lines[0], "[untrusted ") && strings.HasPrefix(lines[2], "[end of untrusted ") {
		return lines[1]
	}
	return text
}

// Members returns a fault for each member of v that is not among the known,
// each that is required (known ones with a "!" behind) and missing, and each that
// stands there twice; a fault too if v is no object.
func Members(at string, v gjson.Result, known ...string) (faults []string) {
	if !v.IsObject() {
		return []string{fmt.Sprintf("%s: found %.40s, expected an object", at, v.Raw)}
	}
	required := map[string]bool{}
	for _, name := range known {
		required[strings.TrimSuffix(name, "!")] = strings.HasSuffix(name, "!")
	}
	seen := map[string]bool{}
	v.ForEach(func(key, _ gjson.Result) bool {
		if _, ok := required[key.Str]; !ok || seen[key.Str] {
			faults = append(faults, fmt.Sprintf("%s: found the member %q: %.60s, expected %v, each once", at, key.Str, v.Get(gjson.Escape(key.Str)).Raw, known))
		}
		seen[key.Str] = true
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(required)) {
		if required[name] && !seen[name] {
			faults = append(faults, fmt.Sprintf("%s: found no member %q, expected one", at, name))
		}
	}
	return faults
}
