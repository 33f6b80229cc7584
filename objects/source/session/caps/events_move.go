package caps

import (
	"math"
	"net/netip"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// Arrival is where the agent goes on, by a teleport or on foot.
type Arrival struct {
	Simulator    netip.AddrPort
	RegionHandle uint64 // the south-west corner in metres: x in the upper half
	Seed         secret.Of[string]
	SizeX, SizeY int         // of the region in metres; 0 is unknown, and on most grids 256
	Position     *world.Vec3 // in the region; nil if unknown
}

// DecodeTeleportFinish reads TeleportFinish.
//
// Source: message template; OpenSimulator adds the sizes.
func DecodeTeleportFinish(body llsd.Value) (to Arrival, err error) {
	defer guard(&err)
	return arrival(block(body, "Info"))
}

// DecodeCrossedRegion reads CrossedRegion.
//
// Source: message template; OpenSimulator adds the sizes.
func DecodeCrossedRegion(body llsd.Value) (to Arrival, err error) {
	defer guard(&err)
	if to, err = arrival(block(body, "RegionData")); err != nil {
		return Arrival{}, err
	}
	if at, ok := block(body, "Info").Get("Position").Vec3(); ok {
		to.Position = &at
	}
	return to, nil
}

// arrival reads the row that describes the region, which is the same in both.
func arrival(row llsd.Value) (Arrival, error) {
	ip, ok := row.Get("SimIP").Addr()
	if !ok || ip.IsUnspecified() {
		return Arrival{}, errMissing("SimIP")
	}
	port, ok := row.Get("SimPort").U32()
	if !ok || port == 0 || port > math.MaxUint16 {
		return Arrival{}, errMissing("SimPort")
	}
	handle, ok := row.Get("RegionHandle").U64()
	if !ok {
		return Arrival{}, errMissing("RegionHandle")
	}
	seed, ok := row.Get("SeedCapability").Str()
	if !ok || !isWebAddress(seed) {
		return Arrival{}, errMissing("SeedCapability")
	}
	return Arrival{
		Simulator:    netip.AddrPortFrom(ip, uint16(port)),
		RegionHandle: handle,
		Seed:         secret.New(seed),
		SizeX:        size(row.Get("RegionSizeX")),
		SizeY:        size(row.Get("RegionSizeY")),
	}, nil
}

// size returns a region's size in metres; 0 if it is none.
func size(v llsd.Value) int {
	n, ok := v.U32()
	if !ok || n > 1<<16 {
		return 0
	}
	return int(n)
}

// Communication is a seed capability that a region gives after the fact.
type Communication struct {
	AgentID   world.UUID
	Simulator netip.AddrPort
	Seed      secret.Of[string]
}

// DecodeEstablishAgentCommunication reads EstablishAgentCommunication.
//
// Source: OpenSimulator, event queue helper; viewer.
func DecodeEstablishAgentCommunication(body llsd.Value) (c Communication, err error) {
	defer guard(&err)
	c.AgentID = identifier(body.Get("agent-id"))
	if c.Simulator, err = netip.ParseAddrPort(text(body.Get("sim-ip-and-port"))); err != nil {
		return Communication{}, errMissing("sim-ip-and-port")
	}
	seed, ok := body.Get("seed-capability").Str()
	if !ok || !isWebAddress(seed) {
		return Communication{}, errMissing("seed-capability")
	}
	c.Seed = secret.New(seed)
	return c, nil
}
