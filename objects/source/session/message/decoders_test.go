package message_test

import "github.com/wipagent/wipagent/objects/source/session/message"

// decoders has for each number a function that decodes a body into a fresh
// message and returns that.
var decoders = map[message.Number]func([]byte) (any, error){
	message.NumberStartPingCheck:            fresh((*message.StartPingCheck).Decode),
	message.NumberCompletePingCheck:         fresh((*message.CompletePingCheck).Decode),
	message.NumberPacketAck:                 fresh((*message.PacketAck).Decode),
	message.NumberLayerData:                 fresh((*message.LayerData).Decode),
	message.NumberObjectUpdate:              fresh((*message.ObjectUpdate).Decode),
	message.NumberObjectUpdateCompressed:    fresh((*message.ObjectUpdate).DecodeCompressed),
	message.NumberObjectUpdateCached:        fresh((*message.ObjectUpdateCached).Decode),
	message.NumberImprovedTerseObjectUpdate: fresh((*message.ImprovedTerseObjectUpdate).Decode),
	message.NumberKillObject:                fresh((*message.KillObject).Decode),
	message.NumberCoarseLocationUpdate:      fresh((*message.CoarseLocationUpdate).Decode),
	message.NumberObjectProperties:          fresh((*message.ObjectProperties).Decode),
	message.NumberObjectPropertiesFamily:    fresh((*message.ObjectProperties).DecodeFamily),
	message.NumberTeleportLocal:             fresh((*message.TeleportLocal).Decode),
	message.NumberTeleportProgress:          fresh((*message.TeleportNotice).DecodeProgress),
	message.NumberTeleportStart:             fresh((*message.TeleportNotice).DecodeStart),
	message.NumberTeleportFailed:            fresh((*message.TeleportNotice).DecodeFailed),
	message.NumberHealthMessage:             fresh((*message.HealthMessage).Decode),
	message.NumberChatFromSimulator:         fresh((*message.ChatFromSimulator).Decode),
	message.NumberRegionInfo:                fresh((*message.RegionInfo).Decode),
	message.NumberRegionHandshake:           fresh((*message.RegionHandshake).Decode),
	message.NumberKickUser:                  fresh((*message.KickUser).Decode),
	message.NumberUUIDNameReply:             fresh((*message.UUIDNameReply).Decode),
	message.NumberAgentMovementComplete:     fresh((*message.AgentMovementComplete).Decode),
	message.NumberImprovedInstantMessage:    fresh((*message.ImprovedInstantMessage).Decode),
	message.NumberUpdateCreateInventoryItem: fresh((*message.InventoryUpdate).DecodeUpdateCreate),
	message.NumberUpdateInventoryFolder:     fresh((*message.InventoryUpdate).DecodeFolder),
	message.NumberBulkUpdateInventory:       fresh((*message.InventoryUpdate).DecodeBulk),
	message.NumberMoveInventoryItem:         fresh((*message.MoveInventoryItem).Decode),
	message.NumberRemoveInventoryItem:       fresh((*message.InventoryRemoved).DecodeItems),
	message.NumberRemoveInventoryFolder:     fresh((*message.InventoryRemoved).DecodeFolders),
	message.NumberRemoveInventoryObjects:    fresh((*message.InventoryRemoved).DecodeObjects),
}

func fresh[T any](decode func(*T, []byte) error) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		m := new(T)
		err := decode(m, b)
		return m, err
	}
}
