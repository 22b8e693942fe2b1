package audit

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/request"
)

// Version is the version of the encoding.
const Version = 1

// Limits of the encoding, in bytes.
const (
	MaxInformation = 1 << 20
	maxCertificate = 8 << 10
	maxProof       = 1 << 10
	blindingLen    = 32
	maxOwners      = 2
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

// Owner tells who a pseudonym is. Of other identities it is empty.
type Owner struct {
	Certificate []byte // the holder's enrolment
	Proof       []byte // that the pseudonym is the holder's, in Context
}

// Encode returns the canonical encoding:
//
//	version(1) count(1) actions
//	action = count(1) inputs count(1) outputs
//	item   = type, value(8) blinding(32) count(1) owners
//	owner  = certificate proof
//
// Numbers are big-endian; type, certificate and proof stand behind a length of 2
// bytes. The error is an ErrLimit that names the field.
func (info *Information) Encode() ([]byte, error) {
	var b cryptobyte.Builder
	var err error
	bound := func(what string, n, lo, hi int) {
		if err == nil && (n < lo || n > hi) {
			err = &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(hi)}
		}
	}
	short := func(data []byte) {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
	}
	bound("actions", len(info.Actions), 1, request.MaxActions)
	b.AddUint8(Version)
	b.AddUint8(uint8(len(info.Actions)))
	for _, a := range info.Actions {
		for _, items := range [][]Item{a.Inputs, a.Outputs} {
			bound("tokens", len(items), 0, token.MaxTokens)
			b.AddUint8(uint8(len(items)))
			for _, item := range items {
				bound("bytes of type", len(item.Opening.Type), 0, token.MaxType)
				bound("bytes of blinding", len(item.Opening.Blinding), blindingLen, blindingLen)
				bound("owners", len(item.Owners), 0, maxOwners)
				if err != nil {
					return nil, err
				}
				short([]byte(item.Opening.Type))
				b.AddUint64(item.Opening.Value)
				b.AddBytes(item.Opening.Blinding)
				b.AddUint8(uint8(len(item.Owners)))
				for _, o := range item.Owners {
					bound("bytes of certificate", len(o.Certificate), 0, maxCertificate)
					bound("bytes of audit proof", len(o.Proof), 0, maxProof)
					if err != nil {
						return nil, err
					}
					short(o.Certificate)
					short(o.Proof)
				}
			}
		}
	}
	if err != nil {
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
	d := decoder{s: data, total: len(data)}
	if len(data) > MaxInformation {
		d.fail("information", fmt.Sprintf("%d bytes, accepted are up to %d", len(data), MaxInformation))
	}
	if v := d.number("version", 1, 0, 255); d.err == nil && v != Version {
		d.fail("version", fmt.Sprintf("version %d, only %d is known", v, Version))
	}
	info := &Information{Actions: make([]Action, d.number("actions", 1, 1, request.MaxActions))}
	for i := range info.Actions {
		info.Actions[i].Inputs = d.items(fmt.Sprintf("actions[%d].inputs", i))
		info.Actions[i].Outputs = d.items(fmt.Sprintf("actions[%d].outputs", i))
	}
	if d.err == nil && len(d.s) > 0 {
		d.fail("information", "trailing bytes")
	}
	if d.err != nil {
		return nil, d.err
	}
	return info, nil
}

// decoder reads fields and remembers the first error; after it all reads return
// zero values.
type decoder struct {
	s     cryptobyte.String
	total int
	err   error
}

func (d *decoder) fail(path, reason string) {
	if d.err == nil {
		d.err = &zkbench.DecodeError{Path: path, Offset: d.total - len(d.s), Reason: reason}
	}
}

func (d *decoder) items(path string) []Item {
	n := d.number(path, 1, 0, token.MaxTokens)
	if n == 0 {
		return nil
	}
	items := make([]Item, n)
	for j := range items {
		if d.err != nil {
			return nil
		}
		at := fmt.Sprintf("%s[%d]", path, j)
		o := &items[j].Opening
		o.Type = string(d.short(at+".type", token.MaxType))
		if value := d.bytes(at+".value", 8); d.err == nil {
			o.Value = binary.BigEndian.Uint64(value)
		}
		o.Blinding = d.bytes(at+".blinding", blindingLen)
		for k := range d.number(at+".owners", 1, 0, maxOwners) {
			owner := fmt.Sprintf("%s.owners[%d]", at, k)
			items[j].Owners = append(items[j].Owners, Owner{d.short(owner+".certificate", maxCertificate), d.short(owner+".proof", maxProof)})
		}
	}
	return items
}

// number reads a number of so many bytes, and returns 0 where it is out of bounds.
func (d *decoder) number(path string, size, lo, hi int) int {
	n := 0
	for _, b := range d.bytes(path, size) {
		n = n<<8 | int(b)
	}
	if d.err == nil && (n < lo || n > hi) {
		d.fail(path, fmt.Sprintf("%d, accepted are %d to %d", n, lo, hi))
	}
	if d.err != nil {
		return 0
	}
	return n
}

func (d *decoder) short(path string, most int) []byte {
	return d.bytes(path, d.number(path, 2, 0, most))
}

func (d *decoder) bytes(path string, n int) []byte {
	var out []byte
	if d.err == nil && !d.s.ReadBytes(&out, n) {
		d.fail(path, "truncated")
	}
	return out[:len(out):len(out)] // appending to a field must not write over the next
}
