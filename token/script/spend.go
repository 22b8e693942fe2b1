package script

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/zkbench/zkbench/token/identity"
)

// Signer returns the identity that must sign for a token of this script, spent at
// the block time at: the recipient for a claim at a time before the deadline with
// the image's preimage, the sender for a reclaim at the deadline or later. At any
// time exactly one of the two kinds is accepted. A time or a preimage that does not
// unlock is an ErrPolicy, an Unlock that has no encoding an ErrMalformed.
func (h *HashLock) Signer(at time.Time, unlock Unlock) (identity.Identity, error) {
	if err := unlock.check(); err != nil {
		return nil, err
	}
	now, err := blockTime(at)
	if err != nil {
		return nil, err
	}
	if unlock.Kind == Reclaim {
		if now < h.deadline {
			return nil, refused("reclaim at %d, accepted from %d on", now, h.deadline)
		}
		return h.sender, nil
	}
	if now >= h.deadline {
		return nil, refused("claim at %d, accepted before %d", now, h.deadline)
	}
	image := sha256.Sum256(unlock.Preimage)
	if subtle.ConstantTimeCompare(image[:], h.image[:]) != 1 {
		return nil, refused("the preimage is not the image's")
	}
	return h.recipient, nil
}

// CheckLock returns an ErrPolicy unless a token may be given to the script at the
// block time at: before the deadline, while it can be claimed.
func (h *HashLock) CheckLock(at time.Time) error {
	now, err := blockTime(at)
	if err != nil {
		return err
	}
	if now >= h.deadline {
		return refused("lock at %d, accepted before its deadline %d", now, h.deadline)
	}
	return nil
}

// CheckShape returns an ErrPolicy unless a transfer that gives a token to a hash time
// lock, or takes one from it, has one input and one output.
func CheckShape(inputs, outputs int) error {
	if inputs != 1 || outputs != 1 {
		return refused("%d inputs and %d outputs with a hash time lock as an owner script, accepted is 1 of each", inputs, outputs)
	}
	return nil
}

// checkOutput returns an ErrPolicy unless owner, of the one output of a claim or a
// reclaim, is the signer that Signer returned: neither somebody else, nor a script,
// nor nobody (a redeem).
func checkOutput(signer identity.Identity, owner []byte) error {
	if !isPlain(owner) || !bytes.Equal(signer, owner) {
		return refused("the output's owner is not the identity that unlocks the script")
	}
	return nil
}

func (h *HashLock) signers(w Witness, p *Place) (ids []identity.Identity, err error) {
	signer := h.recipient
	if !p.AnyTime || len(w.Preimage) > 0 || !bytes.Equal(w.Unlock, []byte{byte(Claim)}) {
		if signer, err = h.unlocked(w, p); err != nil {
			return nil, err
		}
	}
	if err := CheckShape(p.Inputs, len(p.Outputs)); err != nil {
		return nil, err
	}
	if err := checkOutput(signer, p.Outputs[0].Owner); err != nil {
		return nil, err
	}
	return []identity.Identity{signer}, nil
}

// unlocked returns the identity for which a witness unlocks the lock.
func (h *HashLock) unlocked(w Witness, p *Place) (identity.Identity, error) {
	u, err := DecodeUnlock(w.Unlock, w.Preimage)
	if err != nil {
		return nil, err
	}
	at := p.At
	if p.AnyTime {
		at = time.Unix(int64(h.deadline), 0) // at most MaxTime
		if u.Kind == Claim {
			at = at.Add(-time.Second)
		}
	}
	return h.Signer(at, u)
}

func (h *HashLock) checkGiven(p *Place) error {
	if !p.AnyTime {
		if err := h.CheckLock(p.At); err != nil {
			return err
		}
	}
	return CheckShape(max(p.Inputs, 1), len(p.Outputs)) // an issue has no input to be one too many
}

// blockTime returns the whole Unix seconds of a block's time, rounded down. Deadlines
// are whole seconds, so rounding changes no comparison with one. A time before 1970,
// such as the zero time.Time, or beyond MaxTime is an ErrPolicy.
func blockTime(at time.Time) (uint64, error) {
	s := at.Unix()
	if s < 0 || s > MaxTime {
		return 0, refused("block time of %d Unix seconds, accepted are 0 to %d", s, int64(MaxTime))
	}
	return uint64(s), nil
}
