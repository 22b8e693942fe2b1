// Package transcript implements the Fiat-Shamir transcript that every proof in this module uses. A
// transcript absorbs labelled byte strings only. Its whole state is 64 bytes, so an assignment
// copies it.
//
// Each append sets
//
//	state = SHA-512(state || 0x00 || frame(label) || frame(data))
//
// where frame(x) is len(x) as uint32 little-endian followed by x. A challenge is SHA-512(state ||
// 0x01 || frame(label)), and is then appended under its label. Fork(label, i) starts a child
// transcript with the state SHA-512(state || 0x02 || frame(label) || i), where i is encoded as
// uint32 little-endian. Join appends the children's final states in order.
//
// The three tag bytes keep the three uses of the hash apart. The frames make the encoding
// injective, so two different histories never reach the same state, unless SHA-512 collides.
package transcript

import (
	"crypto/sha512"
	"encoding/binary"
)

// StateLen is the length in bytes of a state and of a challenge.
const StateLen = sha512.Size

const (
	tagAppend    = 0x00
	tagChallenge = 0x01
	tagFork      = 0x02
)

// Transcript is a running transcript. The zero value is not usable; call New.
type Transcript struct {
	state [StateLen]byte
}

// New starts the transcript of a protocol, for example "token". The first data that it absorbs is
// "zkbench/v1/<protocol>", under the label "protocol".
func New(protocol string) Transcript {
	var t Transcript
	t.Append("protocol", []byte("zkbench/v1/"+protocol))
	return t
}

// Append absorbs data under a label.
func (t *Transcript) Append(label string, data []byte) {
	// Short messages are hashed from the stack: most are one point or scalar.
	var short [512]byte
	b := short[:0]
	if n := StateLen + 9 + len(label) + len(data); n > len(short) {
		b = make([]byte, 0, n)
	}
	b = append(b, t.state[:]...)
	b = append(b, tagAppend)
	b = appendFrame(b, label)
	b = appendFrame(b, data)
	t.state = sha512.Sum512(b)
}

// AppendUint64 absorbs v under a label, as 8 bytes little-endian.
func (t *Transcript) AppendUint64(label string, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	t.Append(label, b[:])
}

// Challenge returns 64 bytes that depend on everything absorbed so far, and absorbs them under the
// label. Callers reduce them into their field.
func (t *Transcript) Challenge(label string) [StateLen]byte {
	c := t.tagged(tagChallenge, label)
	t.Append(label, c[:])
	return c
}

// Fork returns a child transcript that depends on everything absorbed so far, on label and on i. It
// does not change the parent.
func (t *Transcript) Fork(label string, i uint32) Transcript {
	return Transcript{t.tagged(tagFork, label, binary.LittleEndian.AppendUint32(nil, i)...)}
}

// Join absorbs the final states of the children in the order given, which must be the order of
// their fork indices. Call it after each child has absorbed its last message.
func (t *Transcript) Join(children ...Transcript) {
	for i := range children {
		t.Append("join", children[i].state[:])
	}
}

// State returns the current state.
func (t *Transcript) State() [StateLen]byte { return t.state }

func (t *Transcript) tagged(tag byte, label string, tail ...byte) [StateLen]byte {
	var short [256]byte
	b := append(short[:0], t.state[:]...)
	b = append(b, tag)
	b = appendFrame(b, label)
	b = append(b, tail...)
	return sha512.Sum512(b)
}

func appendFrame[T string | []byte](b []byte, x T) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(x)))
	return append(b, x...)
}
