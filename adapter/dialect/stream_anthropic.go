package dialect

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// messages takes an event of Anthropic's Messages API. Source: the API's
// reference, streaming messages.
func (s *Stream) messages(v gjson.Result) error {
	switch text(v, "type") {
	case "message_start":
		return nil
	case "message_delta":
		if reason := text(v.Get("delta"), "stop_reason"); reason != "" {
			s.finish = reason
		}
		return nil
	case "content_block_start", "content_block_delta", "content_block_stop":
	default:
		return nil // the provider adds kinds of events
	}
	i, err := index(v, "index")
	if err != nil {
		return err
	}
	p, err := s.piece(i)
	if err != nil {
		return err
	}
	switch text(v, "type") {
	case "content_block_start":
		return s.block(p, v.Get("content_block"))
	case "content_block_stop":
		p.closed = true
		return nil
	}
	delta := v.Get("delta")
	if text(delta, "type") != "input_json_delta" {
		p.other = true
		return nil
	}
	return s.grow(p, delta.Get("partial_json"))
}

// block takes the beginning of a block.
func (s *Stream) block(p *piece, block gjson.Result) error {
	if text(block, "type") != "tool_use" || text(block, "toolset_name") != "" {
		p.other, p.text = true, nil
		return nil
	}
	c := toolUse(block)
	if p.known && (c.ID != p.call.ID || c.Name != p.call.Name) {
		return fmt.Errorf("found a second block at index %d, expected one", p.index)
	}
	p.known, p.call.ID, p.call.Name, p.call.Caller, p.given = true, c.ID, c.Name, c.Caller, block.Get("input")
	return s.keep(len(p.given.Raw))
}
