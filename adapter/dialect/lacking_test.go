package dialect_test

import (
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// TestMessagesThatLack reads what is said of messages that look like the
// provider's and lack what tells whose they are.
func TestMessagesThatLack(t *testing.T) {
	const use = `"content":[{"type":"tool_use","id":"a","name":"b","input":{}}]`
	for message, want := range map[string]string{
		`{` + use + `}`:                                            `without its "role": "assistant" and "type": "message"`,
		`{"type":"message",` + use + `}`:                           `without its "role": "assistant"`,
		`{"role":"user",` + use + `}`:                              `of the role "user"`,
		`{"role":7,` + use + `}`:                                   `of the role "7"`,
		`{"stop_reason":"tool_use",` + use + `}`:                   `without its "role": "assistant" and "type": "message"`,
		`{"role":"` + strings.Repeat("x", 5000) + `",` + use + `}`: `of the role "xxx`,
	} {
		_, err := dialect.Lookup("anthropic").Calls([]byte(message))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.80s: %v, want %s", message, err, want)
		}
	}
}
