package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
)

// question is the task.
const question = "Who is near me, what stands around, and do I have a hat?"

// answer stands for what the model says at the end.
const answer = "Marlow Finch and Juniper Vale stand seven metres east of you, three more people are farther away. " +
	"Around you are benches and signs. You have a straw hat in Clothing."

// call is one call of the model that is played.
type call struct{ name, arguments string }

// find is what a model asks first that does not know what there is.
var find = []call{
	{"discover", `{"query":"who is near me"}`},
	{"discover", `{"query":"objects around me"}`},
	{"discover", `{"query":"search my inventory"}`},
}

// played are the calls of each mode, a turn a slice: what a model does that makes
// no mistake and calls at once what it can.
var played = map[string][][]call{
	"verbs": {find, {
		{"invoke", `{"target":"/grid/region","operation":"nearby_avatars","arguments":{"radius_meters":96}}`},
		{"invoke", `{"target":"/grid/region","operation":"visible_objects","arguments":{"radius_meters":96}}`},
		{"invoke", `{"target":"/grid/inventory","operation":"inventory_search","arguments":{"query":"hat"}}`},
	}},
	"operations": {{
		{"region_nearby_avatars", `{"radius_meters":96}`},
		{"region_visible_objects", `{"radius_meters":96}`},
		{"inventory_search", `{"query":"hat"}`},
	}},
	"code mode": {find, {{"run_script", record(map[string]string{"code": `for a in grid.region.nearby_avatars(radius_meters=96):
    print(a.name, a.distance_meters, a.direction)
for o in grid.region.visible_objects(radius_meters=96).items:
    print(o.name, o.position.x, o.position.y)
for i in grid.inventory.inventory_search(query="hat"):
    print(i.name, i.path)
`})}}},
}

func record(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings alone
	}
	return string(raw)
}

// task plays the task and counts it. A provider reads the tools and all that was
// said before with every request; what it adds around them is not counted.
func (c *counter) task(ctx context.Context, mode string, tools *adapter.Toolset) (task, error) {
	t := task{mode: mode, tools: c.text(tools.Instructions(), string(tools.Export().Tools))}
	said := t.tools + c.text(question) // what the next request sends
	for i, calls := range played[mode] {
		var message []map[string]string
		for j, call := range calls {
			message = append(message, map[string]string{
				"type": "function_call", "call_id": fmt.Sprintf("call_%d_%d", i, j), "name": call.name, "arguments": call.arguments,
			})
			t.called += c.text(call.name, call.arguments)
		}
		reply, n, err := tools.Turn(ctx, []byte(record(message)))
		if err != nil {
			return t, err
		}
		for _, result := range gjson.ParseBytes(reply).Array() {
			text := result.Get("output").Str
			if gjson.Get(text, "error").Exists() {
				return t, fmt.Errorf("%s: a call failed: %s", mode, text)
			}
			t.results += c.text(text)
		}
		t.turns, t.calls, t.sent = t.turns+1, t.calls+n, t.sent+said
		said = t.tools + c.text(question) + t.called + t.results
	}
	t.turns, t.sent = t.turns+1, t.sent+said+c.text(answer)
	t.fresh = said + c.text(answer)
	return t, nil
}
