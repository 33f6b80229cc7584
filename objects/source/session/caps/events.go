package caps

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// The decoders of events read what is there and of use. They are safe for
// concurrent use, and what they return shares nothing with the body. A field
// that has a zero meaning may be missing; without any other the event is an
// error.

// errMissing is the error of a field that is not there or of another type.
func errMissing(field string) error { return fmt.Errorf("found no %s", field) }

// block returns the first row of a body's block of that name. Most events
// come in the shape of the UDP message that they replaced: rows in arrays,
// though there is only one.
func block(body llsd.Value, name string) llsd.Value {
	if b := body.Get(name); b.Kind() == llsd.KindMap {
		return b
	}
	return body.Get(name).Index(0)
}

// guard turns a panic of a decoder into its error: whatever a grid sends, one
// event must not stop the others.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
}

// text returns a string, cut at maxName bytes, without the NUL that it ends
// with in messages; empty if it is none.
func text(v llsd.Value) string { return strings.TrimRight(name(v), "\x00") }

func identifier(v llsd.Value) world.UUID {
	u, _ := v.UUID()
	return u
}

// DecodeGroups reads AgentGroupDataUpdate: the groups of which the agent is a
// member, whose ids are also those of their chats.
func DecodeGroups(body llsd.Value) (groups []world.UUID, err error) {
	defer guard(&err)
	rows := body.Get("GroupData")
	if rows.Kind() != llsd.KindArray {
		return nil, errMissing("GroupData")
	}
	for row := range rows.Values() {
		if id := identifier(row.Get("GroupID")); !id.IsZero() {
			groups = append(groups, id)
		}
	}
	return groups, nil
}

// DecodeTeleportFailed returns the reason of TeleportFailed: a text or a word
// that the viewer would look up. It may be empty.
func DecodeTeleportFailed(body llsd.Value) (reason string, err error) {
	defer guard(&err)
	info := block(body, "Info")
	if info.Kind() != llsd.KindMap {
		return "", errMissing("Info")
	}
	return text(info.Get("Reason")), nil
}

// DecodeDisplayNameUpdate reads DisplayNameUpdate: somebody's new name.
func DecodeDisplayNameUpdate(body llsd.Value) (n Name, err error) {
	defer guard(&err)
	agent := body.Get("agent")
	n = Name{
		ID:       identifier(body.Get("agent_id")),
		Username: text(agent.Get("username")),
		Display:  text(agent.Get("display_name")),
		First:    text(agent.Get("legacy_first_name")),
		Last:     text(agent.Get("legacy_last_name")),
	}
	n.Default, _ = agent.Get("is_display_name_default").Bool()
	if n.ID.IsZero() {
		n.ID = identifier(agent.Get("id"))
	}
	if n.First == "" {
		n.First, n.Last = parts(n.Username)
	}
	switch {
	case n.ID.IsZero():
		return Name{}, errMissing("agent_id")
	case n.Display == "" && n.First == "":
		return Name{}, errMissing("name")
	}
	return n, nil
}

// ErrNoParcel says that a ParcelProperties brings none: what was asked for
// lies outside the region.
var ErrNoParcel = errors.New("found no parcel")
