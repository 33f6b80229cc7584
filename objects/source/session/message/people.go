package message

import (
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Decode reads ChatFromSimulator (L139):
//
//	ChatData  Single  FromName V1, SourceID, OwnerID, SourceType U8,
//	                  ChatType U8, Audible U8, Position 3F32, Message V2
//
// Source: message template.
func (m *ChatFromSimulator) Decode(b []byte) error {
	r := reader{b: b}
	m.FromName = text(m.FromName, r.var1())
	m.SourceID = r.uuid()
	r.skip(16)
	r.more()
	m.SourceType = SourceType(r.u8())
	m.ChatType = ChatType(r.u8())
	m.Audible = r.u8()
	r.skip(12)
	words := r.var2()
	m.Empty = len(words) == 0 || words[0] == 0
	return r.err
}

// Decode reads ImprovedInstantMessage (L254), of which the last blocks are not
// read:
//
//	AgentData     Single  AgentID, SessionID
//	MessageBlock  Single  FromGroup BOOL, ToAgentID, ParentEstateID U32,
//	                      RegionID, Position 3F32, Offline U8, Dialog U8, ID,
//	                      Timestamp U32, FromAgentName V1, Message V2,
//	                      BinaryBucket V2
//
// The bucket is, of an offered item, its asset type U8 and ID; of a group's
// notice, whether something is attached U8, its asset type U8 and the group's
// ID.
//
// Source: message template; the buckets: OpenSimulator's group and inventory
// transfer modules.
func (m *ImprovedInstantMessage) Decode(b []byte) error {
	r := reader{b: b}
	m.FromID = r.uuid()
	r.skip(16)
	m.FromGroup = r.u8() != 0
	r.skip(16 + 4 + 16 + 12)
	m.Offline = r.u8() != 0
	m.Dialog = Dialog(r.u8())
	m.ID = r.uuid()
	m.Time = time.Time{}
	if seconds := r.u32(); seconds != 0 {
		m.Time = time.Unix(int64(seconds), 0).UTC()
	}
	m.FromName = text(m.FromName, r.var1())
	r.var2() // the words
	m.BucketID = bucketID(m.Dialog, r.var2())
	return r.err
}

func bucketID(dialog Dialog, bucket []byte) world.UUID {
	at := 0
	switch dialog {
	case DialogInventoryOffered:
		at = 1
	case DialogGroupNotice, DialogGroupNoticeRequested:
		at = 2
	}
	if at == 0 || len(bucket) < at+16 {
		return world.UUID{}
	}
	return world.UUID(bucket[at : at+16])
}

// Decode reads UUIDNameReply (L236):
//
//	UUIDNameBlock  Variable  ID, FirstName V1, LastName V1
//
// Source: message template.
func (m *UUIDNameReply) Decode(b []byte) error {
	r := reader{b: b}
	m.Names = m.Names[:0]
	for n := r.blocks(); n > 0 && r.more(); n-- {
		name := slot(&m.Names)
		name.ID = r.uuid()
		name.First = text(name.First, r.var1())
		name.Last = text(name.Last, r.var1())
		if r.err != nil {
			drop(&m.Names)
		}
	}
	return r.err
}
