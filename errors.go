package zkbench

import (
	"errors"
	"fmt"
	"strings"
)

// The causes that the packages of the module report. A caller tests for one
// with errors.Is; the typed errors below add where it happened.
var (
	// ErrMalformed: bytes that are not the one canonical encoding of a value.
	ErrMalformed = errors.New("malformed encoding")
	// ErrParams: parameters that do not describe a usable system.
	ErrParams = errors.New("invalid parameters")
	// ErrProof: a well-formed proof that does not prove its statement.
	ErrProof = errors.New("proof rejected")
	// ErrWitness: values that do not satisfy the circuit that they are for.
	ErrWitness = errors.New("unsatisfied circuit")
	// ErrSignature: a signature that is not one of the message by its identity.
	ErrSignature = errors.New("signature rejected")
	// ErrPolicy: a request that breaks a rule of the parameters or of an owner's script.
	ErrPolicy = errors.New("policy broken")
	// ErrSpent: an input that a request before has spent.
	ErrSpent = errors.New("token is spent")
	// ErrAnchorConflict: an anchor that stands for another request already.
	ErrAnchorConflict = errors.New("anchor stands for another request")
	// ErrOutcomeUnknown: the ledger may or may not have applied the batch; ask by anchor.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLimit: a request beyond a configured limit.
	ErrLimit = errors.New("limit exceeded")
	// ErrEnv: an environment that cannot do, or be compared for, what was asked.
	ErrEnv = errors.New("unsuitable environment")
)

// DecodeError says where in an encoding decoding failed. It is an ErrMalformed.
type DecodeError struct {
	Path   string // field, for example "outputs[1].commitment"
	Offset int    // byte offset of that field from the start of the input
	Reason string // what is wrong with it; never the bytes themselves
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrMalformed, e.Path, e.Offset, e.Reason)
}

func (e *DecodeError) Unwrap() error { return ErrMalformed }

// Within places the error of a part in the whole: path before its path, with a dot between
// two names, offset added to its offset.
func (e *DecodeError) Within(path string, offset int) *DecodeError {
	if path != "" && e.Path != "" && !strings.HasSuffix(path, ".") && !strings.ContainsAny(e.Path[:1], ".[") {
		path += "."
	}
	return &DecodeError{Path: path + e.Path, Offset: offset + e.Offset, Reason: e.Reason}
}

// LimitError says by how much a limit is exceeded. It is an ErrLimit.
type LimitError struct {
	What          string
	Estimate, Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %s: %d, at most %d accepted", ErrLimit, e.What, e.Estimate, e.Max)
}

func (e *LimitError) Unwrap() error { return ErrLimit }

// CheckError names the check that failed and what it failed on, and wraps the
// cause.
type CheckError struct {
	Check  string // for example "range proof"
	Action int    // index of the action in its batch; -1 where it is about no one of them
	Index  int    // index within the action; -1 where the whole action failed
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

// CheckErrors returns the *CheckErrors that an error is or joins. It reports false if there is none, or anything else beside
// them: then the error says nothing about single actions, and concerns them all.
func CheckErrors(err error) (all []*CheckError, only bool) {
	if e, ok := err.(*CheckError); ok { // and not one that is wrapped
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
