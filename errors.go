package zkbench

import (
	"errors"
	"fmt"
	"strings"
)

// The causes of errors that the module's packages return. Test for them with errors.Is. The error types
// below add where the error happened.
var (
	// ErrMalformed means that bytes are not the canonical encoding of a value.
	ErrMalformed = errors.New("malformed encoding")
	// ErrParams means that parameters do not describe a usable system.
	ErrParams = errors.New("invalid parameters")
	// ErrProof means that a well-formed proof does not prove its statement.
	ErrProof = errors.New("proof rejected")
	// ErrWitness means that values do not satisfy the circuit that they are for.
	ErrWitness = errors.New("unsatisfied circuit")
	// ErrSignature means that a signature was not made by its identity for the message.
	ErrSignature = errors.New("signature rejected")
	// ErrPolicy means that a request breaks a rule of the parameters or of an owner's script.
	ErrPolicy = errors.New("policy broken")
	// ErrSpent means that an earlier request has spent an input.
	ErrSpent = errors.New("token is spent")
	// ErrAnchorConflict means that another request already has the anchor, which is a request's
	// transaction ID.
	ErrAnchorConflict = errors.New("anchor stands for another request")
	// ErrOutcomeUnknown means that the ledger may or may not have applied the batch. Ask it by the
	// request's anchor.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrLimit means that a request exceeds a configured limit.
	ErrLimit = errors.New("limit exceeded")
	// ErrEnv means that the environment cannot do what was asked, or cannot be compared for it.
	ErrEnv = errors.New("unsuitable environment")
)

// DecodeError says where in an encoding decoding failed. It wraps ErrMalformed.
type DecodeError struct {
	Path   string // field, for example "outputs[1].commitment"
	Offset int    // byte offset of that field from the start of the input
	Reason string // what is wrong with it; never the bytes themselves
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrMalformed, e.Path, e.Offset, e.Reason)
}

func (e *DecodeError) Unwrap() error { return ErrMalformed }

// Within returns the error as an error of a whole of which the encoding is a part. It puts path
// before e's path, with a dot between two names, and adds offset to e's offset.
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

// CheckError names the check that failed and what it failed on. It wraps the cause.
type CheckError struct {
	Check  string // for example "range proof"
	Action int    // index of the action in its batch; -1 if the error is not about a single action
	Index  int    // index within the action, for example of an output; -1 if the whole action failed
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

// CheckErrors returns the *CheckError values that err is or joins. It returns false if there is
// none, or if err joins any other error: then err says nothing about single actions and concerns
// all of them.
func CheckErrors(err error) (all []*CheckError, only bool) {
	if e, ok := err.(*CheckError); ok { // a wrapped one does not count
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
