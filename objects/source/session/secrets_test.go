package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// keeper is an MFA that keeps its hash in memory.
type keeper struct{ hash secret.Of[string] }

func (k *keeper) Hash() secret.Of[string]           { return k.hash }
func (k *keeper) SetHash(h secret.Of[string]) error { k.hash = h; return nil }
func (k *keeper) Code(context.Context, string) (secret.Of[string], error) {
	return secret.New("123456"), nil
}

// TestSecrets: what is secret appears in no notice, error, recording or
// printed value, whatever goes wrong.
func TestSecrets(t *testing.T) {
	for name, faults := range map[string]gridtest.Faults{
		"well":       {},
		"no seed":    {SeedStatus: many(404)},
		"bad seed":   {SeedStatus: many(500)},
		"no queue":   {QueueStatus: many(404)},
		"bad queue":  {QueueStatus: many(500)},
		"inventory":  {InventoryStatus: many(500)},
		"silent":     {HalfOpen: true},
		"heavy loss": {Loss: 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := village()
				cfg.Accounts[0].Token = "123456"
				cfg.Accounts[0].Password = "canary-password"
				g := gridtest.New(cfg)
				defer g.Close()
				var seen strings.Builder
				kept := &keeper{}
				var conf session.Config
				b := start(t, g, func(c *session.Config) {
					c.MFA, c.Password = kept, secret.New("canary-password")
					c.Transport = roundTrip(c.Transport.RoundTrip) // the grid for tests is full of secrets
					conf = *c
				})
				recorder := replay.NewRecorder(&seen, nil)
				defer b.world.Tap(recorder.Observe)()
				time.Sleep(5 * time.Second)
				g.SetFaults(faults)
				if faults.SeedStatus != nil || faults.QueueStatus != nil || faults.InventoryStatus != nil {
					g.Kick(g.Agent("Test User"), "again") // so that all is asked for again
				}
				time.Sleep(10 * time.Minute)
				err := b.stop()
				if err := recorder.Close(); err != nil {
					t.Error(err)
				}
				values := []any{b.session, conf, &conf, kept, err}
				for _, n := range b.notices {
					values = append(values, n, n.Err)
				}
				var refused *login.Error = &login.Error{Reason: login.ReasonMFA, MFAHash: kept.hash}
				values = append(values, refused, *refused)
				for _, v := range values {
					fmt.Fprintf(&seen, "%v %+v %#v %s\n", v, v, v, v)
					j, _ := json.Marshal(v)
					seen.Write(j)
				}
				for _, s := range append(g.Secrets(), "canary-password", kept.hash.Reveal()) {
					if strings.Contains(seen.String(), s) {
						i := strings.Index(seen.String(), s)
						t.Errorf("found a secret in %q", seen.String()[max(0, i-80):min(seen.Len(), i+80)])
					}
				}
				if len(g.Secrets()) < 5 || kept.hash.IsZero() || seen.Len() < 1_000 {
					t.Errorf("found %d secrets and %d bytes: the test sees nothing", len(g.Secrets()), seen.Len())
				}
			})
		})
	}
}

// roundTrip is a transport that shows nothing of itself.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// many is a status, over and over.
func many(status int) []int {
	list := make([]int, 500)
	for i := range list {
		list[i] = status
	}
	return list
}
