package head

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/zkbench/zkbench"
)

// OtherHeadError reports signatures of another head than the one that they are merged with. It wraps
// zkbench.ErrParams.
type OtherHeadError struct{ Got, Want Head }

func (e *OtherHeadError) Error() string {
	return fmt.Sprintf("%v: signatures of the head %v, merged with signatures of the head %v", zkbench.ErrParams, e.Got, e.Want)
}

func (e *OtherHeadError) Unwrap() error { return zkbench.ErrParams }

// Merge returns one signed head with the signatures of all given ones. They must be of the same head. A key keeps
// one signature, the one with the newest time. The order of the arguments does not matter: signatures are sorted by
// name and key id.
//
// The signatures of known keys are verified. A caller that follows validators and witnesses passes
//
//	note.VerifierList(append(head.Validators(policy), witnesses...)...)
//
// Signatures of other keys are kept without a check. So anybody can replace a signature of such a key by one that
// claims a later time.
//
// Merge returns zkbench.ErrParams if nothing is given, an *OtherHeadError, a *zkbench.LimitError if the result
// has more than MaxSignatures signatures or MaxSigned bytes, and the errors of Open about a malformed head and
// about the signature of a known key.
func Merge(known note.Verifiers, signed ...[]byte) ([]byte, error) {
	if len(signed) == 0 {
		return nil, fmt.Errorf("%w: no signed head to merge, accepted: 1 or more", zkbench.ErrParams)
	}
	var first Head
	type key struct {
		name string
		id   uint32
	}
	newest := make(map[key]note.Signature)
	for i, s := range signed {
		n, h, err := openNote(s, known)
		if err != nil {
			return nil, fmt.Errorf("signed head %d: %w", i, err)
		}
		if i == 0 {
			first = h
		}
		if h != first {
			return nil, &OtherHeadError{Got: h, Want: first}
		}
		for _, s := range slices.Concat(n.Sigs, n.UnverifiedSigs) {
			k := key{s.Name, s.Hash}
			if old, ok := newest[k]; !ok || byTime(s, old) > 0 {
				newest[k] = s
			}
		}
	}
	if len(newest) > MaxSignatures {
		return nil, &zkbench.LimitError{What: "signatures of one head", Estimate: int64(len(newest)), Max: MaxSignatures}
	}
	all := slices.SortedFunc(maps.Values(newest), func(a, b note.Signature) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	merged, err := note.Sign(&note.Note{Text: first.Checkpoint(), Sigs: all})
	if err == nil && len(merged) > MaxSigned {
		err = &zkbench.LimitError{What: "bytes of signed head", Estimate: int64(len(merged)), Max: MaxSigned}
	}
	if err != nil {
		return nil, err
	}
	return merged, nil
}

// byTime compares two signatures of one key by their times. Signatures of the same time have an order too, so that
// the result of Merge does not depend on the order of its arguments.
func byTime(a, b note.Signature) int {
	return cmp.Or(cmp.Compare(timestampOf(a), timestampOf(b)), cmp.Compare(a.Base64, b.Base64))
}
