package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/secret"
)

const canary = "canary-4711"

// TestHidden: however a secret is printed, logged or encoded, by itself or
// inside of something, it does not show.
func TestHidden(t *testing.T) {
	type holder struct {
		Shown  secret.Of[string]
		hidden secret.Of[[]byte]
	}
	s := secret.New(canary)
	h := holder{s, secret.New([]byte(canary))}
	var seen strings.Builder
	for _, v := range []any{s, &s, h, &h, []any{s, h}, map[string]any{"k": s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p"} {
			fmt.Fprintf(&seen, verb+"\n", v)
		}
		j, _ := json.Marshal(v)
		seen.Write(j)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	seen.Write(log.Bytes())
	fmt.Fprint(&seen, errors.Join(fmt.Errorf("with %v", s)))
	text := seen.String()
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprint([]byte(canary))} {
		if strings.Contains(text, form) {
			t.Errorf("found %q in what was printed", form)
		}
	}
	if !strings.Contains(text, secret.Hidden) {
		t.Errorf("found %q, expected %s in it", text, secret.Hidden)
	}
}

func TestReveal(t *testing.T) {
	var none secret.Of[string]
	if !none.IsZero() || none.Reveal() != "" {
		t.Errorf("found %q, expected nothing", none.Reveal())
	}
	if s := secret.New(canary); s.IsZero() || s.Reveal() != canary {
		t.Errorf("found %q, expected %q", s.Reveal(), canary)
	}
}
