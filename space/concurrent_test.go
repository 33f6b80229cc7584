package space_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

func TestConcurrentUse(t *testing.T) {
	h := lampHost()
	s := lampSpace(t, h, &space.Config{MaxKnown: 4, MaxCallers: 3, MaxAge: time.Millisecond})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			caller := wip.Caller{ID: fmt.Sprint(g % 5)}
			for i := range 50 {
				switch (g + i) % 6 {
				case 0:
					h.change(func() {
						p := fmt.Sprintf("/hall/%d", i%7)
						h.entries[p] = object(p, "Lamp", "lamp.wip", "Lamp")
						delete(h.entries, fmt.Sprintf("/hall/%d", (i+3)%7))
					})
					if err := s.Refresh(t.Context(), caller, "/"); err != nil {
						t.Error(err)
					}
				case 1:
					if _, err := s.Learn(t.Context(), caller, []string{"/house/cellar", "/house/hall/3", "/house/hall/4", "/house/hall/5"}); err != nil {
						t.Error(err)
					}
				case 2:
					s.Children(caller, "/house")
					s.Forget(caller, "/house/cellar")
					if err := s.RefreshStale(t.Context(), caller); err != nil {
						t.Error(err)
					}
				case 3:
					if i > 10 {
						continue
					}
					if err := s.Mount(fmt.Sprintf("/more/%d-%d", g, i), h, nil); err != nil {
						t.Error(err)
					}
				default:
					v := s.View(func(_ *space.Node, op *idl.Operation) bool { return g%2 == 0 || op.Name != "get_color" })
					if f := v.Search(t.Context(), "/house", "switch the lamp"); len(f.Hits) == 0 || f.Hits[0].Strength != space.Strong {
						t.Errorf("the lamp was not found: %+v", f)
					}
				}
			}
		})
	}
	wg.Wait()
}
