package audit

import (
	"crypto/hpke"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
)

// Version is the version of the encoding of audit information.
const Version = 2

// Limits of the encoding, in bytes.
const (
	MaxInformation = 1 << 20
	MaxCertificate = 8 << 10
	MaxProof       = 1 << 10
	blindingLen    = 32
)

// Information is what an auditor gets with a request. It opens everything that the request hides, so it is secret.
type Information struct{ Actions []Action }

// Action is the audit information on one action. It is either in the clear or sealed to the auditors. If it is
// sealed, another party of the request can pass it on without reading it.
type Action struct {
	Inputs, Outputs []Item
	Sealed          *Sealed
}

// Item is the audit information on one token.
type Item struct {
	Opening token.Opening
	Owners  []Owner // one for each identity of the token's owner
}

// Encode returns the canonical encoding:
//
//	version(1) count(1) actions
//	action = form(1), and then, depending on the form:
//	         1 (in the clear): count(1) inputs count(1) outputs
//	         2 (sealed): the sealed data
//	item   = type, value(8) blinding(32) count(1) owners
//
// Owner.Append documents the encoding of owners and of sealed data. Numbers are big-endian. A length of 2
// bytes comes before the type. If a field is out of bounds, Encode returns an ErrLimit that names it.
func (info *Information) Encode() ([]byte, error) {
	var b wire.Builder
	b.Bound("actions", len(info.Actions), 1, request.MaxActions)
	b.AddUint8(Version)
	b.AddUint8(uint8(len(info.Actions)))
	for i := range info.Actions {
		if s := info.Actions[i].Sealed; s != nil {
			b.AddUint8(formSealed)
			s.append(&b, MaxInformation)
		} else {
			b.AddUint8(formClear)
			info.Actions[i].append(&b)
		}
		if err := b.Err(); err != nil {
			return nil, err
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

// append appends the encoding of an action in the clear.
func (a *Action) append(b *wire.Builder) {
	for _, items := range [][]Item{a.Inputs, a.Outputs} {
		b.Bound("tokens", len(items), 0, token.MaxTokens)
		b.AddUint8(uint8(len(items)))
		for _, item := range items {
			b.Bound("bytes of type", len(item.Opening.Type), 0, token.MaxType)
			b.Bound("bytes of blinding", len(item.Opening.Blinding), blindingLen, blindingLen)
			b.Bound("owners", len(item.Owners), 0, token.MaxMembers)
			if b.Err() != nil {
				return
			}
			b.Short([]byte(item.Opening.Type))
			b.AddUint64(item.Opening.Value)
			b.AddBytes(item.Opening.Blinding)
			b.AddUint8(uint8(len(item.Owners)))
			for i := range item.Owners {
				item.Owners[i].append(b)
			}
		}
	}
}

// actionInfo returns the HPKE info of a sealed action without the policy's version, which Sealed.info adds:
// "zkbench/v3/audit action" ledger(32) index(2) anchor policy(8).
func actionInfo(ledger token.LedgerID, anchor []byte, index int) []byte {
	info := append([]byte("zkbench/v3/audit action"), ledger[:]...)
	return append(binary.BigEndian.AppendUint16(info, uint16(index)), anchor...)
}

// Seal encrypts the information on an action to all auditors of a policy. The auditors can decrypt the result only as
// the action with the given index in a request with the given anchor. If the action is sealed already, Seal returns
// it unchanged. Seal returns ErrParams or ErrLimit.
func (a *Action) Seal(rules *token.Policy, ledger token.LedgerID, anchor []byte, index int) (Action, error) {
	if a.Sealed != nil {
		return *a, nil
	}
	var b wire.Builder
	if a.append(&b); b.Err() != nil {
		return Action{}, b.Err()
	}
	plain, err := b.Bytes()
	if err != nil {
		return Action{}, err
	}
	s, err := seal(rules, actionInfo(ledger, anchor, index), plain)
	return Action{Sealed: s}, err
}

// open returns the action in the clear, with the auditor's key.
func (a *Action) open(key hpke.PrivateKey, ledger token.LedgerID, anchor []byte, index int) (*Action, error) {
	if a.Sealed == nil {
		return a, nil
	}
	plain, err := a.Sealed.open(key, actionInfo(ledger, anchor, index))
	if err != nil {
		return nil, err
	}
	f := wire.NewFields(plain, "sealed action", MaxInformation)
	clear := readAction(f, "sealed action")
	fill(f, len(plain))
	return &clear, f.End("sealed action")
}

// Decode decodes audit information. The result keeps references into data. The error is of type
// *zkbench.DecodeError. The error names the field and never contains any part of the field's value.
func Decode(data []byte) (*Information, error) {
	f := wire.NewFields(data, "information", MaxInformation)
	f.Version(Version)
	info := &Information{Actions: make([]Action, f.Number("actions", 1, 1, request.MaxActions))}
	for i := range info.Actions {
		path := fmt.Sprintf("actions[%d]", i)
		if f.Number(path+".form", 1, formClear, formSealed) == formSealed {
			f.Item("actions", i)
			info.Actions[i].Sealed = readSealed(f, MaxInformation)
			f.EndItems()
		} else {
			info.Actions[i] = readAction(f, path)
		}
	}
	if err := f.End("information"); err != nil {
		return nil, err
	}
	return info, nil
}

func readAction(f *wire.Fields, path string) Action {
	return Action{Inputs: decodeItems(f, path+".inputs"), Outputs: decodeItems(f, path+".outputs")}
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
			item.Owners = append(item.Owners, readOwner(f))
		}
		f.EndItems()
		items = append(items, item)
	}
	return items
}
