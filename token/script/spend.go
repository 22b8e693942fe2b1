package script

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/zkbench/zkbench/token/identity"
)

// Signer returns the identity that must sign to spend a token of this script in a block with the given time.
// That is the recipient for a claim before the deadline with the image's preimage, and the sender for a reclaim
// at the deadline or later. At any time exactly one of the two, claim or reclaim, is accepted. Signer returns
// ErrPolicy if the time or the preimage does not unlock the script, and ErrMalformed if unlock cannot be
// encoded.
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
		return nil, refused("the preimage does not match the image")
	}
	return h.recipient, nil
}

// CheckLock checks whether a token may be given to the script in a block with the given time. It returns
// ErrPolicy if that time is the deadline or later, because the token could then not be claimed.
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

// CheckShape returns ErrPolicy unless there is one input and one output. A transfer that gives a token to a
// hash time lock, or takes one from it, must have that shape.
func CheckShape(inputs, outputs int) error {
	if inputs != 1 || outputs != 1 {
		return refused("%d inputs and %d outputs with a hash time lock as an owner script, accepted is 1 of each", inputs, outputs)
	}
	return nil
}

// checkOutput returns ErrPolicy unless the owner of the output of a claim or a reclaim is the signer that
// Signer returned. So the output goes neither to somebody else, nor to a script, nor to nobody (a redemption).
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

// unlocked returns the identity that must sign, if the witness unlocks the lock.
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
	return CheckShape(max(p.Inputs, 1), len(p.Outputs)) // an issue has no inputs; it counts as one
}

// blockTime returns a block's time in whole Unix seconds, rounded down. Deadlines are whole seconds, so
// rounding does not change the result of a comparison. blockTime returns ErrPolicy for a time before 1970, such
// as the zero time.Time, and for a time after MaxTime.
func blockTime(at time.Time) (uint64, error) {
	s := at.Unix()
	if s < 0 || s > MaxTime {
		return 0, refused("block time of %d Unix seconds, accepted are 0 to %d", s, int64(MaxTime))
	}
	return uint64(s), nil
}
