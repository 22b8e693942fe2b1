package audit

import (
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
)

// Version is the version of the encoding.
const Version = 2

// Limits of the encoding, in bytes.
const (
	MaxInformation = 1 << 20
	MaxCertificate = 8 << 10
	MaxProof       = 1 << 10
	blindingLen    = 32
)

// Information is what an auditor gets with a request: it opens everything that the
// request hides, and is secret.
type Information struct{ Actions []Action }

// Action is the information on one action.
type Action struct{ Inputs, Outputs []Item }

// Item is the information on one token.
type Item struct {
	Opening token.Opening
	Owners  []Owner // one for each identity of the token's owner
}

// Encode returns the canonical encoding:
//
//	version(1) count(1) actions
//	action = count(1) inputs count(1) outputs
//	item   = type, value(8) blinding(32) count(1) owners
//
// Owners are encoded as Owner.Append says. Numbers are big-endian; the type stands behind a length of 2
// bytes. The error is an ErrLimit that names the field.
func (info *Information) Encode() ([]byte, error) {
	var b wire.Builder
	b.Bound("actions", len(info.Actions), 1, request.MaxActions)
	b.AddUint8(Version)
	b.AddUint8(uint8(len(info.Actions)))
	for _, a := range info.Actions {
		for _, items := range [][]Item{a.Inputs, a.Outputs} {
			b.Bound("tokens", len(items), 0, token.MaxTokens)
			b.AddUint8(uint8(len(items)))
			for _, item := range items {
				b.Bound("bytes of type", len(item.Opening.Type), 0, token.MaxType)
				b.Bound("bytes of blinding", len(item.Opening.Blinding), blindingLen, blindingLen)
				b.Bound("owners", len(item.Owners), 0, token.MaxMembers)
				if err := b.Err(); err != nil {
					return nil, err
				}
				b.Short([]byte(item.Opening.Type))
				b.AddUint64(item.Opening.Value)
				b.AddBytes(item.Opening.Blinding)
				b.AddUint8(uint8(len(item.Owners)))
				for i := range item.Owners {
					item.Owners[i].Append(&b)
				}
			}
		}
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	encoded, err := b.Bytes()
	if err == nil && len(encoded) > MaxInformation {
		err = &zkbench.LimitError{What: "bytes of audit information", Estimate: int64(len(encoded)), Max: MaxInformation}
	}
	return encoded, err
}

// Decode decodes audit information. The error is a *zkbench.DecodeError that names
// the field and shows nothing of it. The information keeps references into data.
func Decode(data []byte) (*Information, error) {
	f := wire.NewFields(data, "information", MaxInformation)
	f.Version(Version)
	info := &Information{Actions: make([]Action, f.Number("actions", 1, 1, request.MaxActions))}
	for i := range info.Actions {
		info.Actions[i].Inputs = decodeItems(f, fmt.Sprintf("actions[%d].inputs", i))
		info.Actions[i].Outputs = decodeItems(f, fmt.Sprintf("actions[%d].outputs", i))
	}
	if err := f.End("information"); err != nil {
		return nil, err
	}
	return info, nil
}

func decodeItems(f *wire.Fields, path string) (items []Item) {
	for j := range f.Number(path, 1, 0, token.MaxTokens) {
		if !f.OK() {
			return nil
		}
		at := fmt.Sprintf("%s[%d]", path, j)
		var item Item
		item.Opening.Type = string(f.Prefixed(at+".type", 2, 0, token.MaxType))
		if value := f.Bytes(at+".value", 8); f.OK() {
			item.Opening.Value = binary.BigEndian.Uint64(value)
		}
		item.Opening.Blinding = f.Bytes(at+".blinding", blindingLen)
		for k := range f.Number(at+".owners", 1, 0, token.MaxMembers) {
			f.Item(at+".owners", k)
			item.Owners = append(item.Owners, ReadOwner(f))
		}
		f.EndItems()
		items = append(items, item)
	}
	return items
}
