package lane

// This file is the document that a call's updates change: the output of a tool.

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/execagent/execagent/limits"
)

// State is the output of a tool call. As JSON it is the document that the call's updates begin
// with and change.
type State struct {
	// Content is one block of text, then images.
	Content []Block `json:"content"`
	// Details are the tool's own, in a form that only the tool and its renderer know.
	Details json.RawMessage `json:"details"`
	// Usage sums up what the call spent on models; nil when nothing.
	Usage *Usage `json:"usage,omitempty"`
	// AddedTools are names of tools that the model may use from now on.
	AddedTools []string `json:"addedTools,omitempty"`
	// Terminate asks the harness to end its loop, whether or not the call failed.
	Terminate bool `json:"terminate"`
	// Truncation says how much text was written and what of it is in Content.
	Truncation limits.Truncation `json:"truncation"`
	// Source says where the rest of the text is; nil when there is no more.
	Source *Source `json:"source,omitempty"`
}

// The types of a [Block].
const (
	TextBlock  = "text"
	ImageBlock = "image"
)

// Block is one piece of content.
type Block struct {
	Type string `json:"type"`
	// Text of a [TextBlock] changes at its ends only. Live is the unfinished last line, which
	// may still be rewritten; it is gone when the call ends. The text to show is both.
	Text string `json:"text,omitempty"`
	Live string `json:"live,omitempty"`
	// MIMEType and Data are those of an [ImageBlock].
	MIMEType string `json:"mimeType,omitempty"`
	Data     []byte `json:"data,omitempty"`
}

// MarshalJSON writes the fields of the block's type, an empty text too.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Type == ImageBlock {
		return json.Marshal(struct {
			Type     string `json:"type"`
			MIMEType string `json:"mimeType"`
			Data     []byte `json:"data"`
		}{b.Type, b.MIMEType, b.Data})
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Live string `json:"live,omitempty"`
	}{b.Type, b.Text, b.Live})
}

// Usage is what a call spent on models: tokens, and their price.
type Usage struct {
	Input      int64   `json:"input"`
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
	Cost       float64 `json:"cost"` // US dollars
}

// Source says where the text of an output came from and where all of it is.
type Source struct {
	// ExecutionID names the command in its agent.
	ExecutionID string `json:"executionId,omitempty"`
	// SpillPath is the file, on the machine of the command, with every byte.
	SpillPath string `json:"spillPath,omitempty"`
	// SpillError says why that file is incomplete; SafeBytes are in it even so.
	SpillError string `json:"spillError,omitempty"`
	SafeBytes  int64  `json:"safeBytes,omitempty"`
}

// Text returns the text of the output, the unfinished line included.
func (s *State) Text() string {
	if len(s.Content) == 0 {
		return ""
	}
	return s.Content[0].Text + s.Content[0].Live
}

// ReadState reads an output document, such as [Call].Output. It fails when the document is not
// one.
func ReadState(document any) (*State, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("lane: reading an output: %w", err)
	}
	s := new(State)
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("lane: reading an output: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("lane: reading an output: %w", err)
	}
	return s, nil
}

func (s *State) check() error {
	if len(s.Content) == 0 || s.Content[0].Type != TextBlock {
		return errors.New("the content does not begin with a text block")
	}
	for i, b := range s.Content[1:] {
		if b.Type != ImageBlock {
			return fmt.Errorf("block %d is of type %q, want %q", i+1, b.Type, ImageBlock)
		}
	}
	return nil
}
