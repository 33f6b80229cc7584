// Package replay records what sources tell a world and plays it again.
//
// A recording is text, one JSON object a line. The first line is a header:
//
//	{"wipagent_recording":1,"world":"demo","started":"2026-11-29T12:00:00Z"}
//
// Each further line is one world.Update: its type, its stamp, and those of its
// fields that are not zero.
//
//	{"type":"object_moved","generation":1,"region":"…","at":"2026-11-29T12:00:01.5Z","local_id":7,"position":[128,64,22.5]}
//
// Names are the Go names in snake_case. Vectors are [x,y,z], rotations
// [x,y,z,w]; a number that is NaN or infinite is null. Times are RFC 3339.
// Bitmaps are base64, and so are terrain heights, as little-endian 32-bit
// floats. A text that is not UTF-8 is {"base64":"…"}.
//
// The updates hold no secret and nothing of what anybody said, so a recording
// does not either. It does hold who was where, and the names of what the agent
// owns.
package replay
