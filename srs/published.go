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

// Published identifies the file that a ceremony has published. PublishedHash makes a Published from the
// file's hash. NoHashKnown makes one for a file that nobody vouches for. ReadPtau refuses the zero value.
type Published struct {
	hash    [blake2b.Size]byte
	given   bool
	unknown bool
}

// PublishedHash identifies a file by the BLAKE2b-512 hash that the ceremony has published. The text is 128
// hexadecimal digits, as the README of snarkjs lists it or the command `b2sum` prints it. White space is
// ignored. PublishedHash returns zkbench.ErrParams if text is not such a hash.
func PublishedHash(text string) (Published, error) {
	p := Published{given: true}
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(raw) != len(p.hash) {
		return Published{}, fmt.Errorf("%w: hash of a ceremony's file; accepted are the %d hexadecimal digits of its BLAKE2b-512", zkbench.ErrParams, 2*blake2b.Size)
	}
	copy(p.hash[:], raw)
	return p, nil
}

// NoHashKnown says that no hash of the file is known. The file's maker may know τ and be able to prove
// anything, so the reference string that ReadPtau reads from the file is Insecure.
func NoHashKnown() Published { return Published{unknown: true} }

// check returns zkbench.ErrParams for the zero value.
func (p Published) check() error {
	if !p.given && !p.unknown {
		return fmt.Errorf("%w: published hash of a reference string; accepted are those of PublishedHash and NoHashKnown", zkbench.ErrParams)
	}
	return nil
}

// checkFile compares the hash of the whole file with the published one, if there is one. It hashes the parts
// that were used as they were read, and reads the rest from the file.
func (p Published) checkFile(ctx context.Context, f *ptau) error {
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
