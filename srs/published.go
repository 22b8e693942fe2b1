package srs

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

	"github.com/zkbench/zkbench"
)

// Published says which file a ceremony has published: PublishedHash makes one of its hash, and NoHashKnown one for a file that
// nobody vouches for. The zero value is none, and is refused.
type Published struct {
	hash    [blake2b.Size]byte
	given   bool
	unknown bool
}

// PublishedHash returns the file whose BLAKE2b-512 the ceremony has published: 128 hexadecimal digits, as snarkjs' README
// lists them for its files and b2sum prints them; white space between them is passed over. The error is an ErrParams.
func PublishedHash(text string) (Published, error) {
	p := Published{given: true}
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(raw) != len(p.hash) {
		return Published{}, fmt.Errorf("%w: hash of a ceremony's file; accepted are the %d hexadecimal digits of its BLAKE2b-512", zkbench.ErrParams, 2*blake2b.Size)
	}
	copy(p.hash[:], raw)
	return p, nil
}

// NoHashKnown says that no hash of the file is known: whoever made the file may know τ, and prove anything. The string is Insecure.
func NoHashKnown() Published { return Published{unknown: true} }

// check refuses the zero value.
func (p Published) check() error {
	if !p.given && !p.unknown {
		return fmt.Errorf("%w: published hash of a reference string; accepted are those of PublishedHash and NoHashKnown", zkbench.ErrParams)
	}
	return nil
}

// holds hashes the whole file, where a hash is known: what is used of it as it was read, and what is between from the file.
func (p Published) holds(ctx context.Context, f *ptau) error {
	if p.unknown {
		return nil
	}
	h, err := blake2b.New512(nil)
	if err != nil {
		return err
	}
	inOrder := append(slices.Clone(f.used), piece{at: f.length})
	slices.SortStableFunc(inOrder, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	chunk := make([]byte, readChunk)
	at := int64(0)
	for _, next := range inOrder {
		for at < next.at {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b := chunk[:min(readChunk, next.at-at)]
			if err := f.fill(b, at); err != nil {
				return &zkbench.DecodeError{Path: "ptau", Offset: int(at), Reason: "cannot be read: " + err.Error()}
			}
			h.Write(b)
			at += int64(len(b))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.Write(next.data)
		at += int64(len(next.data))
	}
	if sum := h.Sum(nil); subtle.ConstantTimeCompare(sum, p.hash[:]) != 1 {
		return &zkbench.DecodeError{Path: "ptau", Reason: fmt.Sprintf("another file than the ceremony's: BLAKE2b-512 %x, published is %x", sum, p.hash)}
	}
	return nil
}
