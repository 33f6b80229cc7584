package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// TestNarrowing narrows by headers and by _meta, and tries to widen.
func TestNarrowing(t *testing.T) {
	const read, lend, hide = "/diary#read", "/diary#lend", "/diary#hide"
	principal := func(id string, audience idl.Audience, intent ...string) *policy.Principal {
		return &policy.Principal{ID: id, Audience: audience, Intent: intent}
	}
	base := &principals.Access{Principal: *principal("app", idl.AuthorizedIM), Embedder: true}
	bound := &principals.Access{Principal: *principal("app", idl.AuthorizedIM, read, lend), Embedder: true}
	run := &principals.Access{Principal: policy.Principal{ID: "app", Audience: idl.SchedulerRun, Grants: []string{read}}, Embedder: true}
	plain := &principals.Access{Principal: *principal("app", idl.AuthorizedIM)}
	none := principal("app", idl.AuthorizedIM)
	none.Intent = []string{}
	for name, test := range map[string]struct {
		by     *principals.Access
		header map[string]string
		meta   map[string]any
		want   *policy.Principal
		err    string
	}{
		"nothing":                    {base, nil, nil, &base.Principal, ""},
		"nothing of no embedder":     {plain, nil, nil, &plain.Principal, ""},
		"an audience":                {base, map[string]string{"Audience": "public_chat"}, nil, principal("app", idl.PublicChat), ""},
		"the same audience":          {base, map[string]string{"Audience": "authorized_im"}, nil, principal("app", idl.AuthorizedIM), ""},
		"a user":                     {base, nil, map[string]any{"user": "u@x.1"}, principal("app/u@x.1", idl.AuthorizedIM), ""},
		"an intent":                  {base, map[string]string{"Intent": read + ", " + lend}, nil, principal("app", idl.AuthorizedIM, read, lend), ""},
		"less of an intent":          {bound, nil, map[string]any{"intent": []any{lend}}, principal("app", idl.AuthorizedIM, lend), ""},
		"no intent is left":          {base, map[string]string{"Intent": ""}, nil, none, ""},
		"no intent is left by meta":  {bound, nil, map[string]any{"intent": []any{}}, none, ""},
		"all, both ways":             {base, map[string]string{"Audience": "im", "Intent": read + "," + lend, "User": "u"}, map[string]any{"audience": "public_chat", "intent": []any{read}}, principal("app/u", idl.PublicChat, read), ""},
		"a higher audience":          {base, map[string]string{"Audience": "local_operator"}, nil, nil, "may only narrow"},
		"a higher audience in meta":  {base, map[string]string{"Audience": "public_chat"}, map[string]any{"audience": "im"}, nil, "may only narrow"},
		"a run":                      {base, map[string]string{"Audience": "scheduler_run"}, nil, nil, "may only narrow"},
		"a run that is none":         {run, map[string]string{"Audience": "public_chat"}, nil, nil, "may only narrow"},
		"a run with a user":          {run, map[string]string{"User": "u"}, nil, &policy.Principal{ID: "app/u", Audience: idl.SchedulerRun, Grants: []string{read}}, ""},
		"more of an intent":          {bound, map[string]string{"Intent": read + "," + hide}, nil, nil, "number 2 is none of the caller's own intent"},
		"more of an intent in meta":  {base, map[string]string{"Intent": read}, map[string]any{"intent": []any{lend}}, nil, "may only narrow"},
		"no audience":                {base, map[string]string{"Audience": "SECRET"}, nil, nil, "found no audience"},
		"an empty audience":          {base, map[string]string{"Audience": ""}, nil, nil, "found no audience"},
		"a number as audience":       {base, nil, map[string]any{"audience": 1.0}, nil, "found no audience"},
		"no operation":               {base, map[string]string{"Intent": "SECRET"}, nil, nil, "is no operation"},
		"no list":                    {base, nil, map[string]any{"intent": read}, nil, "is no operation"},
		"null as intent":             {base, nil, map[string]any{"intent": nil}, nil, "is no operation"},
		"a long list":                {base, map[string]string{"Intent": strings.Repeat(read+",", 257)}, nil, nil, "expected at most 256"},
		"a user that is another":     {base, map[string]string{"User": "../SECRET"}, nil, nil, "found no user's name"},
		"a user below a user":        {base, map[string]string{"User": "a/SECRET"}, nil, nil, "found no user's name"},
		"no user":                    {base, map[string]string{"User": ""}, nil, nil, "found no user's name"},
		"two users":                  {base, map[string]string{"User": "a"}, map[string]any{"user": "SECRET"}, nil, "a second user"},
		"an audience of no embedder": {plain, map[string]string{"Audience": "public_chat"}, nil, nil, "no embedder"},
		"a user of no embedder":      {plain, nil, map[string]any{"user": "u"}, nil, "no embedder"},
		"an intent of no embedder":   {plain, nil, map[string]any{"intent": []any{}}, nil, "no embedder"},
	} {
		t.Run(name, func(t *testing.T) {
			header, meta := http.Header{}, map[string]any{}
			for name, value := range test.header {
				header.Set("Wipagent-"+name, value)
			}
			for name, value := range test.meta {
				meta["wipagent/"+name] = value
			}
			got, err := mcp.Narrowed(test.by, header, meta)
			if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.err == "") {
				t.Fatalf("%v %s", err, diff)
			}
			if err != nil && (!strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "SECRET")) {
				t.Errorf("found %v, expected %s", err, test.err)
			}
		})
	}
}

// TestNarrowingNeverWidens makes narrowings of all kinds: whoever comes of one
// may do nothing that the embedder may not.
func TestNarrowingNeverWidens(t *testing.T) {
	docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(diaryText), nil }, "diary.wip")
	if err != nil {
		t.Fatal(err)
	}
	object := []*idl.Interface{docs[0].Interface("Diary")}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"/diary#read", "/diary#lend", "/diary#hide", "/diary#Diary.hide", "/diary#nothing", "x"}), 0, 3)
	audience := rapid.SampledFrom(append(idl.AudienceNames(), "nobody"))
	rapid.Check(t, func(t *rapid.T) {
		a := &principals.Access{Embedder: true, Principal: policy.Principal{ID: "app"}}
		a.Principal.Audience, _ = idl.ParseAudience(rapid.SampledFrom(idl.AudienceNames()).Draw(t, "base"))
		if rapid.Bool().Draw(t, "bound") {
			a.Principal.Intent = append([]string{}, names.Draw(t, "intent")...)
		}
		if a.Principal.Audience == idl.SchedulerRun {
			a.Principal.Grants = names.Draw(t, "grants")
		}
		header, meta := http.Header{}, map[string]any{}
		if rapid.Bool().Draw(t, "d1") {
			header.Set("Wipagent-Audience", audience.Draw(t, "d2"))
		}
		if rapid.Bool().Draw(t, "d3") {
			header.Set("Wipagent-Intent", strings.Join(names.Draw(t, "d4"), ","))
		}
		if rapid.Bool().Draw(t, "d5") {
			meta["wipagent/audience"] = audience.Draw(t, "d6")
		}
		if rapid.Bool().Draw(t, "d7") {
			list := []any{}
			for _, name := range names.Draw(t, "d8") {
				list = append(list, name)
			}
			meta["wipagent/intent"] = list
		}
		p, err := mcp.Narrowed(a, header, meta)
		if err != nil {
			return
		}
		for _, op := range object[0].Operations {
			if p.Allows(nil, "/diary", object, op) && !a.Principal.Allows(nil, "/diary", object, op) {
				t.Fatalf("%+v may %s, which %+v may not", p, op.Name, a.Principal)
			}
		}
	})
}

// TestHTTPNarrowing narrows requests of one session, for both surfaces: the
// narrowed see as much as a principal of their own rights, and no more.
func TestHTTPNarrowing(t *testing.T) {
	app := access("app", idl.LocalOperator)
	app.Embedder = true
	for _, surface := range adapter.Surfaces() {
		t.Run(string(surface), func(t *testing.T) {
			h, log := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"app": app, "low": access("low", idl.PublicChat)}}, func(cfg *mcp.HTTPConfig) { cfg.Surface = surface })
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			narrow := http.Header{"Wipagent-Audience": {"public_chat"}, "Wipagent-User": {"eve"}}
			narrowed, err := join(t, server, "app", narrow)
			if err != nil {
				t.Fatal(err)
			}
			low, err := join(t, server, "low", nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := join(t, server, "app", nil)
			if err != nil {
				t.Fatal(err)
			}
			list := func(s *sdk.ClientSession) string {
				tools, err := s.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := json.Marshal(tools.Tools)
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
			if diff := cmp.Diff(list(low), list(narrowed)); diff != "" {
				t.Errorf("the tools: %s", diff)
			}
			if surface == adapter.Operations && list(low) == list(whole) {
				t.Error("the whole has the same tools: the test compares nothing")
			}
			ask := func(s *sdk.ClientSession, operation string, meta sdk.Meta) string {
				params := &sdk.CallToolParams{Meta: meta, Name: "invoke", Arguments: json.RawMessage(fmt.Sprintf(`{"target":"/diary","operation":%q,"arguments":{}}`, operation))}
				if surface == adapter.Operations {
					params.Name, params.Arguments = "diary_"+operation, json.RawMessage(`{}`)
				}
				r, err := s.CallTool(t.Context(), params)
				if err != nil {
					return err.Error()
				}
				return r.Content[0].(*sdk.TextContent).Text
			}
			for _, operation := range []string{"hide", "lend", "nothing"} {
				if diff := cmp.Diff(ask(low, operation, nil), ask(narrowed, operation, nil)); diff != "" {
					t.Errorf("%s: %s", operation, diff)
				}
			}
			if answer := ask(narrowed, "linger", nil); !strings.Contains(answer, "secret of app/eve") {
				t.Errorf("the narrowed: %s", answer)
			}
			if answer := ask(whole, "hide", nil); !strings.Contains(answer, `"secret of app"`) {
				t.Errorf("the whole: %s", answer)
			}
			if answer := ask(whole, "hide", sdk.Meta{"wipagent/audience": "im"}); strings.Contains(answer, "secret of") {
				t.Errorf("narrowed by _meta: %s", answer)
			}
			if answer := ask(whole, "lend", sdk.Meta{"wipagent/audience": "im", "wipagent/user": "zoe"}); !strings.Contains(answer, "secret of app/zoe") {
				t.Errorf("narrowed by _meta: %s", answer)
			}
			if answer := ask(narrowed, "linger", sdk.Meta{"wipagent/audience": "im"}); !strings.Contains(answer, "may only narrow") {
				t.Errorf("widened by _meta: %s", answer)
			}
			if answer := ask(low, "linger", sdk.Meta{"wipagent/user": "zoe"}); !strings.Contains(answer, "no embedder") {
				t.Errorf("of no embedder: %s", answer)
			}
			for _, id := range []string{"app", "app/eve", "app/zoe"} {
				if !strings.Contains(log.String(), `"principal":"`+id+`"`) {
					t.Errorf("the audit log has nothing of %s", id)
				}
			}
		})
	}
}
