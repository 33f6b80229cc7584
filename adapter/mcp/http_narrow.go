package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// What an embedder narrows itself with, as a header of the HTTP request and as a
// member of the MCP request's _meta: the audience, the operations of the intent
// (in a header separated by commas), and the user that it speaks for.
const (
	headerAudience, metaAudience = "Wipagent-Audience", "wipagent/audience"
	headerIntent, metaIntent     = "Wipagent-Intent", "wipagent/intent"
	headerUser, metaUser         = "Wipagent-User", "wipagent/user"
)

// Bounds of an intent that comes with a request.
const (
	maxIntent = 256  // names
	maxName   = 1024 // bytes of one
)

// narrowed returns who calls: the principal of the access or, if the request says
// so, a narrower one. The principal stays the same pointer if nothing was said. An
// error refuses what an embedder may not, which is all that would widen.
func narrowed(a *principals.Access, header http.Header, meta map[string]any) (*client.Principal, error) {
	n := &narrower{Principal: a.Principal}
	if list := header.Values(headerAudience); len(list) > 0 {
		n.audience(headerAudience, strings.Join(list, ","))
	}
	if list := header.Values(headerIntent); len(list) > 0 {
		var names []string
		for name := range strings.SplitSeq(strings.Join(list, ","), ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		n.intent(headerIntent, names)
	}
	if list := header.Values(headerUser); len(list) > 0 {
		n.user(headerUser, strings.Join(list, ","))
	}
	if value, ok := meta[metaAudience]; ok {
		name, _ := value.(string)
		n.audience(metaAudience, name)
	}
	if value, ok := meta[metaIntent]; ok {
		list, isList := value.([]any)
		names := make([]string, len(list))
		for i, v := range list {
			names[i], _ = v.(string) // what is none is no operation
		}
		if !isList {
			names = []string{""}
		}
		n.intent(metaIntent, names)
	}
	if value, ok := meta[metaUser]; ok {
		name, _ := value.(string)
		n.user(metaUser, name)
	}
	switch {
	case !n.asked:
		return &a.Principal, nil
	case !a.Embedder:
		return nil, errors.New("found a request that narrows its caller, of a principal that is no embedder")
	case n.err != nil:
		return nil, n.err
	}
	return &n.Principal, nil
}

// narrower is a principal that becomes narrower, until the first error.
type narrower struct {
	client.Principal
	asked, named bool
	err          error
}

func (n *narrower) refuse(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf(format, args...)
	}
}

func (n *narrower) audience(at, name string) {
	n.asked = true
	switch audience, ok := idl.ParseAudience(name); {
	case !ok:
		n.refuse("%s: found no audience, expected one of %s", at, strings.Join(idl.AudienceNames(), ", "))
	case audience == n.Audience:
	case audience == idl.SchedulerRun || n.Audience == idl.SchedulerRun || audience > n.Audience:
		n.refuse("%s: found %s, which sees what %s does not; a request may only narrow", at, audience, n.Audience)
	default:
		n.Audience = audience
	}
}

func (n *narrower) intent(at string, names []string) {
	n.asked = true
	if len(names) > maxIntent {
		n.refuse("%s: found %d operations, expected at most %d", at, len(names), maxIntent)
		return
	}
	for i, name := range names {
		path, operation, ok := strings.Cut(name, "#")
		switch {
		case !ok || !strings.HasPrefix(path, "/") || operation == "" || len(name) > maxName:
			n.refuse("%s: number %d is no operation, expected PATH#OPERATION", at, i+1)
		case n.Intent != nil && !slices.Contains(n.Intent, name):
			n.refuse("%s: number %d is none of the caller's own intent; a request may only narrow", at, i+1)
		}
	}
	n.Intent = append([]string{}, names...) // an empty list leaves nothing; none would leave all
}

func (n *narrower) user(at, name string) {
	n.asked = true
	switch {
	case n.named:
		n.refuse("%s: found a second user, expected one", at)
	case !principals.ValidID(name):
		n.refuse("%s: found no user's name, expected 1 to 64 letters, digits and _.:@- with a letter or digit first", at)
	}
	n.named = true
	n.ID += "/" + name
}

// newServer returns the server of one session: the tools that its principal may
// know of, and fewer in a request that narrows.
func (h *HTTPHandler) newServer(s *session) *sdk.Server {
	p := &s.access.Principal
	cfg := Config{Client: h.cfg.Client, Principal: p, Surface: h.cfg.Surface, Code: h.cfg.Code, Version: h.cfg.Version}
	server := newServer(cfg, h.tools(p), func(o *sdk.ServerOptions) { o.GetSessionID = func() string { return s.id } })
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)() // what goes on in a session ends with it
			return h.answer(ctx, next, s, method, req)
		}
	})
	return server
}

// answer answers a request of the session, by fewer tools if it narrows.
func (h *HTTPHandler) answer(ctx context.Context, next sdk.MethodHandler, s *session, method string, req sdk.Request) (sdk.Result, error) {
	p, err := narrowed(s.access, headerOf(req), metaOf(req))
	switch {
	case err != nil:
		h.tellNarrowing(s)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	case p == &s.access.Principal:
		return next(ctx, method, req)
	}
	switch req := req.(type) {
	case *sdk.ListToolsRequest:
		list := declared(h.tools(p))
		slices.SortFunc(list, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) }) // as the SDK does
		return &sdk.ListToolsResult{Tools: list}, nil
	case *sdk.CallToolRequest:
		if req.Params != nil && req.Params.Name != "" {
			return handler(h.tools(p))(ctx, req)
		}
	}
	return next(ctx, method, req)
}

func headerOf(req sdk.Request) http.Header {
	if extra := req.GetExtra(); extra != nil {
		return extra.Header
	}
	return nil
}

func metaOf(req sdk.Request) map[string]any {
	params := req.GetParams()
	if v := reflect.ValueOf(params); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() { // a request without params
		return nil
	}
	return params.GetMeta()
}

// offer is a toolset, as it was when it was made.
type offer struct {
	tools *adapter.Toolset
	made  time.Time
}

// How many toolsets are kept, and for how long one is given to new sessions: what
// is mounted may change.
const (
	maxToolsets = 1024
	toolsetAge  = time.Minute
)

func newToolsets() *lru.Cache[string, offer] {
	cache, err := lru.New[string, offer](maxToolsets)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return cache
}

// tools returns what a principal is given to work with. Whoever has the same
// rights under the same name has the same toolset.
func (h *HTTPHandler) tools(p *client.Principal) *adapter.Toolset {
	key := p.ID + "\x00" + p.Audience.String() + "\x00" + strings.Join(p.Grants, "\x00")
	if p.Intent != nil {
		key += "\x00\x00" + strconv.Itoa(len(p.Intent)) + "\x00" + strings.Join(p.Intent, "\x00")
	}
	if kept, ok := h.toolsets.Get(key); ok && time.Since(kept.made) < toolsetAge {
		return kept.tools
	}
	tools, err := h.adapter.Toolset(context.Background(), p, adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp"), Surface: h.cfg.Surface})
	if err != nil {
		panic(fmt.Sprintf("mcp: %v", err)) // no such surface, or a Code without a name
	}
	h.toolsets.Add(key, offer{tools, time.Now()})
	return tools
}
