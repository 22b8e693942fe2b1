package script

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// MaxPreimage is the maximum length of a preimage in bytes. The minimum is 1.
const MaxPreimage = 64

// Kind says how a hash time lock is spent: by a claim or by a reclaim.
type Kind uint8

// The kinds of spending. The numbers are those of the encoding.
const (
	Claim   Kind = 1 // by the recipient, before the deadline
	Reclaim Kind = 2 // by the sender, from the deadline on
)

func (k Kind) String() string {
	switch k {
	case Claim:
		return "claim"
	case Reclaim:
		return "reclaim"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Unlock says how a hash time lock is spent. For a claim it contains the preimage.
type Unlock struct {
	Kind     Kind
	Preimage []byte // 1 to MaxPreimage bytes to claim, none to reclaim
}

// Image returns the hash of a preimage of 1 to MaxPreimage bytes. It returns a *zkbench.DecodeError if the
// preimage has another length.
func Image(preimage []byte) ([ImageLen]byte, error) {
	if err := (Unlock{Kind: Claim, Preimage: preimage}).check(); err != nil {
		return [ImageLen]byte{}, err
	}
	return sha256.Sum256(preimage), nil
}

// Encode returns the witness, which is the Kind in one byte. The witness does not contain the preimage, so
// auditors can sign the witness without knowing the preimage. Errors are as for DecodeUnlock.
func (u Unlock) Encode() ([]byte, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	return []byte{byte(u.Kind)}, nil
}

// DecodeUnlock decodes the witness and the preimage of an input, which are two fields of a request. Errors have
// type *zkbench.DecodeError.
func DecodeUnlock(witness, preimage []byte) (Unlock, error) {
	u := Unlock{Preimage: slices.Clone(preimage)}
	if len(witness) != 1 {
		return Unlock{}, malformed("unlock.kind", 0, "%d bytes, want 1", len(witness))
	}
	u.Kind = Kind(witness[0])
	return u, u.check()
}

func (u Unlock) check() error {
	n := len(u.Preimage)
	switch {
	case u.Kind != Claim && u.Kind != Reclaim:
		return malformed("unlock.kind", 0, "%d, known are %d (%s), %d (%s)", uint8(u.Kind), uint8(Claim), Claim, uint8(Reclaim), Reclaim)
	case u.Kind == Claim && (n < 1 || n > MaxPreimage):
		return malformed("unlock.preimage", 0, "%d bytes, accepted are 1 to %d", n, MaxPreimage)
	case u.Kind == Reclaim && n != 0:
		return malformed("unlock.preimage", 0, "%d bytes, a reclaim has none", n)
	}
	return nil
}
