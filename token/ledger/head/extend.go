package head

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// Reasons why a head does not extend another one. They wrap zkbench.ErrPolicy.
var (
	// ErrShorter is returned for a head that is smaller than one seen before. The log went back
	// (ledger.ErrRolledBack), or somebody shows an old head.
	ErrShorter = fmt.Errorf("%w: the log is shorter than it was", zkbench.ErrPolicy)
	// ErrForked is returned for a head with the size of one seen before and another root. The two heads
	// prove that their signers signed two histories.
	ErrForked = fmt.Errorf("%w: the log has another root at the same size", zkbench.ErrPolicy)
	// ErrInconsistent is returned if the consistency proof does not show that the log only grew. Either the log
	// changed, or the proof is bad.
	ErrInconsistent = fmt.Errorf("%w: the log is not proved to extend what it was", zkbench.ErrPolicy)
)

// ExtendError reports a head that does not extend one seen before. It wraps Err.
type ExtendError struct {
	Kept, Told Head  // the head seen before, and the new one
	Err        error // ErrShorter, ErrForked or ErrInconsistent
}

func (e *ExtendError) Error() string {
	return fmt.Sprintf("%v: kept size %d root %x, told size %d root %x", e.Err, e.Kept.Size, e.Kept.Root, e.Told.Size, e.Told.Root)
}

func (e *ExtendError) Unwrap() error { return e.Err }

// LedgerError reports a head of another ledger. It wraps zkbench.ErrPolicy.
type LedgerError struct{ Got, Want token.LedgerID }

func (e *LedgerError) Error() string {
	return fmt.Sprintf("%v: a head of ledger %x, expected ledger %x", zkbench.ErrPolicy, e.Got, e.Want)
}

func (e *LedgerError) Unwrap() error { return zkbench.ErrPolicy }

// Extends returns nil if the log of head h is the log of head kept, or that log with leaves added. The parameter
// proof is the consistency proof of RFC 6962, section 2.1.2, from kept.Size to h.Size, as tlog.ProveTree returns
// it. The proof is not read if h is not larger than kept. Extends returns a *LedgerError or an *ExtendError.
func (h Head) Extends(kept Head, proof tlog.TreeProof) error {
	refused := func(cause error) error { return &ExtendError{Kept: kept, Told: h, Err: cause} }
	switch {
	case h.Ledger != kept.Ledger:
		return &LedgerError{Got: h.Ledger, Want: kept.Ledger}
	case h.Size < kept.Size:
		return refused(ErrShorter)
	case h.Size == kept.Size && h.Root != kept.Root:
		return refused(ErrForked)
	case h.Size == kept.Size:
		return nil
	}
	if tlog.CheckTree(proof, int64(h.Size), h.Root, int64(kept.Size), kept.Root) != nil {
		return refused(ErrInconsistent)
	}
	return nil
}

// Contradiction is the evidence that a log contradicts itself: two signed heads of which the second does not
// extend the first. Two heads of one size with different roots prove to everybody who has the policy that their
// signers signed two histories. Other pairs show what was told, and do not say whether the log or only a proof was
// bad. Contradiction wraps Err.
type Contradiction struct {
	Kept, Told []byte // signed heads as they were received; Told of a Keeper is the checkpoint of its own log, not signed
	Err        error  // how they contradict each other, for example an *ExtendError
}

func (c *Contradiction) Error() string { return fmt.Sprintf("the log contradicts itself: %v", c.Err) }

func (c *Contradiction) Unwrap() error { return c.Err }

// Text returns both signed heads in full, each after a line that says which it is.
func (c *Contradiction) Text() string {
	return fmt.Sprintf("%v\n\nthe head kept before:\n\n%s\nthe head told after it:\n\n%s", c, c.Kept, c.Told)
}
