package message_test

import "github.com/wipagent/wipagent/objects/source/session/message"

// decoder decodes a body and returns the message, a pointer to a struct.
type decoder func(body []byte) (any, error)

// decoders has a decoder for each number, which decodes into a fresh message.
var decoders = table(false)

// table returns decoders which use a fresh message each time, or one for all.
func table(reuse bool) map[message.Number]decoder {
	return map[message.Number]decoder{
		message.NumberStartPingCheck:            into(reuse, (*message.StartPingCheck).Decode),
		message.NumberCompletePingCheck:         into(reuse, (*message.CompletePingCheck).Decode),
		message.NumberPacketAck:                 into(reuse, (*message.PacketAck).Decode),
		message.NumberLayerData:                 into(reuse, (*message.LayerData).Decode),
		message.NumberObjectUpdate:              into(reuse, (*message.ObjectUpdate).Decode),
		message.NumberObjectUpdateCompressed:    into(reuse, (*message.ObjectUpdate).DecodeCompressed),
		message.NumberObjectUpdateCached:        into(reuse, (*message.ObjectUpdateCached).Decode),
		message.NumberImprovedTerseObjectUpdate: into(reuse, (*message.ImprovedTerseObjectUpdate).Decode),
		message.NumberKillObject:                into(reuse, (*message.KillObject).Decode),
		message.NumberCoarseLocationUpdate:      into(reuse, (*message.CoarseLocationUpdate).Decode),
		message.NumberObjectProperties:          into(reuse, (*message.ObjectProperties).Decode),
		message.NumberObjectPropertiesFamily:    into(reuse, (*message.ObjectProperties).DecodeFamily),
		message.NumberTeleportLocal:             into(reuse, (*message.TeleportLocal).Decode),
		message.NumberTeleportProgress:          into(reuse, (*message.TeleportNotice).DecodeProgress),
		message.NumberTeleportStart:             into(reuse, (*message.TeleportNotice).DecodeStart),
		message.NumberTeleportFailed:            into(reuse, (*message.TeleportNotice).DecodeFailed),
		message.NumberHealthMessage:             into(reuse, (*message.HealthMessage).Decode),
		message.NumberChatFromSimulator:         into(reuse, (*message.ChatFromSimulator).Decode),
		message.NumberRegionInfo:                into(reuse, (*message.RegionInfo).Decode),
		message.NumberRegionHandshake:           into(reuse, (*message.RegionHandshake).Decode),
		message.NumberKickUser:                  into(reuse, (*message.KickUser).Decode),
		message.NumberUUIDNameReply:             into(reuse, (*message.UUIDNameReply).Decode),
		message.NumberAgentMovementComplete:     into(reuse, (*message.AgentMovementComplete).Decode),
		message.NumberImprovedInstantMessage:    into(reuse, (*message.ImprovedInstantMessage).Decode),
		message.NumberUpdateCreateInventoryItem: into(reuse, (*message.InventoryUpdate).DecodeUpdateCreate),
		message.NumberUpdateInventoryFolder:     into(reuse, (*message.InventoryUpdate).DecodeFolder),
		message.NumberBulkUpdateInventory:       into(reuse, (*message.InventoryUpdate).DecodeBulk),
		message.NumberMoveInventoryItem:         into(reuse, (*message.MoveInventoryItem).Decode),
		message.NumberRemoveInventoryItem:       into(reuse, (*message.InventoryRemoved).DecodeItems),
		message.NumberRemoveInventoryFolder:     into(reuse, (*message.InventoryRemoved).DecodeFolders),
		message.NumberRemoveInventoryObjects:    into(reuse, (*message.InventoryRemoved).DecodeObjects),
	}
}

func into[T any](reuse bool, decode func(*T, []byte) error) decoder {
	m := new(T)
	return func(b []byte) (any, error) {
		if !reuse {
			m = new(T)
		}
		err := decode(m, b)
		return m, err
	}
}
