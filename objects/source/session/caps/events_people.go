package caps

import (
	"time"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// Invitation is the first line of a group's or conference's chat: who said
// something where, without the words.
type Invitation struct {
	SessionID world.UUID // of a group's chat the group's
	FromID    world.UUID
	FromName  string // empty if it did not come
	// Group says that it comes from a group; where it is false, SessionID
	// may still be one's.
	Group bool
	// Dialog is the kind of instant message; 0 if Voice.
	Dialog uint8
	Time   time.Time // when it was written; zero if the grid does not say
	// Voice says that it invites to talk, and nobody has written anything.
	Voice bool
}

// DecodeChatterBoxInvitation reads ChatterBoxInvitation in its three forms:
// with a message, immediate, and for voice.
//
// Source: viewer; OpenSimulator, event queue helper.
func DecodeChatterBoxInvitation(body llsd.Value) (i Invitation, err error) {
	defer guard(&err)
	params := body.Get("instantmessage").Get("message_params")
	i = Invitation{
		SessionID: first(params.Get("id"), body.Get("session_id")),
		FromID:    first(params.Get("from_id"), body.Get("from_id")),
		FromName:  text(params.Get("from_name")),
		Group:     yes(params.Get("from_group")) || yes(body.Get("from_group")),
		Voice:     params.Kind() != llsd.KindMap && body.Get("voice").Kind() != llsd.KindUndef,
	}
	if i.FromName == "" {
		i.FromName = text(body.Get("from_name"))
	}
	if dialog := number(params.Get("type"), 0); dialog > 0 && dialog <= 255 {
		i.Dialog = uint8(dialog)
	}
	if seconds, ok := params.Get("timestamp").U32(); ok && seconds != 0 {
		i.Time = time.Unix(int64(seconds), 0).UTC()
	}
	switch {
	case i.SessionID.IsZero():
		return Invitation{}, errMissing("session")
	case i.FromID.IsZero():
		return Invitation{}, errMissing("from_id")
	}
	return i, nil
}

// first returns the first identifier that is not zero.
func first(values ...llsd.Value) world.UUID {
	for _, v := range values {
		if id := identifier(v); !id.IsZero() {
			return id
		}
	}
	return world.UUID{}
}

// yes reads a boolean, which Second Life also writes as "Y" and "N".
func yes(v llsd.Value) bool {
	b, ok := v.Bool()
	return ok && b || text(v) == "Y"
}
