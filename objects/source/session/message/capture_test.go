package message_test

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/message"
)

// packet is one message of a capture.
type packet struct {
	t      float64 // seconds since the first frame
	sent   bool    // by the client
	first  bool    // not a resend of one that was there before
	number message.Number
	body   []byte // after the number
}

var captureNames = []string{"login-session", "login-session-cached"}

var loaded = struct {
	sync.Mutex
	packets map[string][]packet
	truth   map[string]truth
}{packets: map[string][]packet{}, truth: map[string]truth{}}

// load returns the messages of a capture in order, and the part of truth.json
// that is about it.
func load(tb testing.TB, name string) ([]packet, truth) {
	tb.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if packets, ok := loaded.packets[name]; ok {
		return packets, loaded.truth[name]
	}
	var want truth
	capture.Truth(tb, name, &want)
	type key struct {
		sent     bool
		sequence uint32
	}
	seen := map[key]bool{}
	var packets []packet
	c := capture.Fixture(tb, name)
	for _, captured := range c.Packets {
		p := packet{
			t:    float64(captured.At.Sub(c.Start).Microseconds()) / 1e6,
			sent: captured.FromClient,
		}
		this := key{p.sent, binary.BigEndian.Uint32(captured.Datagram[1:])}
		p.first = !seen[this]
		seen[this] = true
		var err error
		if p.number, p.body, err = message.Split(expand(captured.Datagram)); err != nil {
			tb.Fatal(err)
		}
		packets = append(packets, p)
	}
	loaded.packets[name], loaded.truth[name] = packets, want
	return packets, want
}

// expand returns the message of a datagram, its runs of zeros expanded. None
// of the captures has acknowledgements at the end of a datagram.
func expand(datagram []byte) []byte {
	body := datagram[6:]
	if datagram[0]&0x80 == 0 {
		return bytes.Clone(body)
	}
	var out []byte
	for i := 0; i < len(body); i++ {
		out = append(out, body[i])
		if body[i] != 0 {
			continue
		}
		i++
		out = append(out, make([]byte, int(body[i])-1)...)
	}
	return out
}

// truth is what a right decoder finds in a capture, as far as this package
// goes.
type truth struct {
	MessagesReceived map[string]count `json:"messages_received"`
	MessagesSent     map[string]count `json:"messages_sent"`
	Region           struct {
		Name             string
		UUID             string
		WaterHeight      float64 `json:"water_height"`
		Handle           uint64
		SimulatorVersion string `json:"simulator_version"`
	}
	Agent struct {
		UUID      string
		Announced []struct {
			T        float64
			Source   string
			Position [3]float64
		} `json:"positions_announced"`
		Teleports []struct{ Message string } `json:"teleport_messages"`
	}
	Avatars []avatar
	Seats   []struct {
		T      float64
		UUID   string
		Parent uint32
	} `json:"seat_changes"`
	CoarseLast struct {
		T       float64
		You     int `json:"you_index"`
		Entries []coarse
	} `json:"coarse_last"`
	CoarseCounts []struct {
		T       float64
		Avatars int
	} `json:"coarse_counts"`
	Roots        []object `json:"root_objects"`
	Children     []object `json:"child_objects"`
	ObjectCounts struct {
		Cached    int            `json:"announced_as_cached"`
		Requested int            `json:"requested"`
		Unknown   map[string]int `json:"terse_for_unknown_local_ids"`
	} `json:"object_counts"`
	Kills []struct {
		T       float64
		LocalID uint32 `json:"local_id"`
		Implied bool   `json:"implied_by_parent"`
	}
	Attachments []struct {
		LocalID    uint32 `json:"local_id"`
		UUID       string
		Parent     uint32 `json:"parent_local_id"`
		State      uint8
		HoverText  string     `json:"hover_text"`
		Position   [3]float64 `json:"position_field"`
		NameValues string     `json:"name_values"`
	} `json:"attachments_seen"`
	Terrain struct {
		Patches int
		Layers  map[string]int `json:"layer_packets"`
		Samples []struct {
			X, Y    float64
			Corners map[string]float64 `json:"decoded_corners"`
		}
	}
	Chat []struct {
		T          float64
		FromName   string `json:"from_name"`
		Source     string
		SourceType uint8 `json:"source_type"`
		ChatType   uint8 `json:"chat_type"`
		Audible    uint8
		Message    string
	}
	InstantMessages []struct {
		T         float64
		From      string `json:"from_agent"`
		FromName  string `json:"from_name"`
		Dialog    uint8
		Offline   int
		Timestamp int64
		Bucket    string
	} `json:"instant_messages"`
}

type count struct{ Datagrams, Unique int }

type avatar struct {
	UUID         string
	FirstName    string     `json:"first_name"`
	LastName     string     `json:"last_name"`
	LocalID      uint32     `json:"local_id"`
	LastPosition [3]float64 `json:"last_position_field"`
	Terse        int        `json:"terse_updates"`
}

type coarse struct {
	UUID string
	Raw  [3]uint8
}

type object struct {
	LocalID   uint32 `json:"local_id"`
	UUID      string
	PCode     uint8
	Position  [3]float64
	Scale     [3]float64
	HoverText string `json:"hover_text"`
	Parent    uint32 `json:"parent_local_id"`
}
