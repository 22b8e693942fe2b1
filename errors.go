package zkbench

import (
	"errors"
	"fmt"
	"strings"
)

// These errors are the causes that the packages of this module report. Test for a cause with
// errors.Is. The typed errors below add where it happened.
var (
	// ErrMalformed reports bytes that are not the canonical encoding of any value.
	ErrMalformed = errors.New("malformed encoding")
	// ErrParams reports parameters that do not describe a usable system.
	ErrParams = errors.New("invalid parameters")
	// ErrProof reports a well-formed proof that does not prove its statement.
	ErrProof = errors.New("proof rejected")
	// ErrWitness reports values that do not satisfy their circuit.
	ErrWitness = errors.New("unsatisfied circuit")
	// ErrSignature reports a signature that does not verify for the message under the signer's
	// identity.
	ErrSignature = errors.New("signature rejected")
	// ErrPolicy reports a request that breaks a rule. The rule is in the parameters or in the
	// script of a token's owner.
	ErrPolicy = errors.New("policy broken")
	// ErrSpent reports an input that an earlier request has already spent.
	ErrSpent = errors.New("token is spent")
	// ErrAnchorConflict reports an anchor (transaction id) that already belongs to another request.
	ErrAnchorConflict = errors.New("anchor belongs to another request")
	// ErrOutcomeUnknown reports that the ledger may or may not have applied a batch of requests.
	// To find out, look up the requests' anchors in the ledger.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLimit reports a request beyond a configured limit.
	ErrLimit = errors.New("limit exceeded")
	// ErrEnv reports an environment (for example, a processor) that cannot do what was asked, or
	// whose results cannot be compared with others.
	ErrEnv = errors.New("unsuitable environment")
)

// DecodeError reports the position at which the decoding of bytes failed. It wraps ErrMalformed.
type DecodeError struct {
	Path   string // field, for example "outputs[1].commitment"
	Offset int    // byte offset of that field from the start of the input
	Reason string // what is wrong with it; never the bytes themselves
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrMalformed, e.Path, e.Offset, e.Reason)
}

func (e *DecodeError) Unwrap() error { return ErrMalformed }

// Within turns an error about a part of an input into an error about the whole input. It puts the
// parameter path before e.Path, with a dot between two names, and adds the parameter offset to
// e.Offset.
func (e *DecodeError) Within(path string, offset int) *DecodeError {
	if path != "" && e.Path != "" && !strings.HasSuffix(path, ".") && !strings.ContainsAny(e.Path[:1], ".[") {
		path += "."
	}
	return &DecodeError{Path: path + e.Path, Offset: offset + e.Offset, Reason: e.Reason}
}

// LimitError says by how much a limit is exceeded. It wraps ErrLimit.
type LimitError struct {
	What          string
	Estimate, Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %s: %d, at most %d accepted", ErrLimit, e.What, e.Estimate, e.Max)
}

func (e *LimitError) Unwrap() error { return ErrLimit }

// CheckError names the check that failed, and says for which action and at which index it failed.
// It wraps the cause.
type CheckError struct {
	Check  string // for example "range proof"
	Action int    // index of the action in its batch; -1 if the error is not about a single action
	Index  int    // index within the action; -1 if the whole action failed
	Err    error
}

func (e *CheckError) Error() string {
	text := e.Check
	if e.Action >= 0 {
		text = fmt.Sprintf("action %d: %s", e.Action, text)
	}
	if e.Index >= 0 {
		text = fmt.Sprintf("%s %d", text, e.Index)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

func (e *CheckError) Unwrap() error { return e.Err }

// CheckErrors returns a list of *CheckError values and true, if err has the type *CheckError or
// joins only errors of this type. Otherwise it returns nil and false: err then concerns the whole
// batch instead of single actions.
func CheckErrors(err error) (all []*CheckError, only bool) {
	if e, ok := err.(*CheckError); ok { // but not a wrapped one
		return []*CheckError{e}, true
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	for _, e := range joined.Unwrap() {
		more, ok := CheckErrors(e)
		if !ok {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, len(all) > 0
}
