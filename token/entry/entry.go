// Package entry computes what a ledger records of a request or of an update of the policy: anchor, digest, tokens that it
// spends, tokens that it creates. Validators write entries that it computes; wallets, auditors and replays
// compute them again, and believe a record nothing that its request does not say.
//
// What this package does not promise: it decodes, and verifies neither signatures nor proofs.
package entry

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// Parsed is a request or an update of the policy, decoded, with what it does to a ledger.
type Parsed struct {
	Request *request.Request // nil for an update
	Actions []*action.Action // of the request
	Update  *policy.Update   // nil for a request

	// Entry lacks the time, and for a request the policy: the request does not say them.
	Entry ledger.Entry
}

// Parse decodes a request or an update of the policy of a ledger, whose commitments have pointLen bytes. It computes nothing on
// curves. The entry keeps references into raw.
//
// Parse returns a *zkbench.DecodeError if raw is malformed, ErrParams if an update's policy is not accepted, and ErrPolicy if a request has an
// anchor that is kept for updates.
func Parse(id token.LedgerID, pointLen int, raw []byte) (*Parsed, error) {
	if policy.IsUpdate(raw) {
		u, err := policy.Decode(raw)
		if err != nil {
			return nil, err
		}
		p := &Parsed{Update: u}
		p.Entry, err = FromUpdate(u, raw)
		return p, err
	}
	r, err := request.Decode(raw)
	if err != nil {
		return nil, err
	}
	p := &Parsed{Request: r, Actions: make([]*action.Action, len(r.Actions))}
	for i := range r.Actions {
		if p.Actions[i], err = action.Parse(pointLen, r.Actions[i].Kind, r.Actions[i].Raw); err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
	}
	p.Entry, err = FromRequest(r, p.Actions, r.Digest(id), raw)
	return p, err
}

// OfRequest returns the entry of a request, given its actions and its digest, without time and policy. Outputs without owner are redeemed and
// create nothing.
func FromRequest(r *request.Request, actions []*action.Action, digest [32]byte, raw []byte) (ledger.Entry, error) {
	e := ledger.Entry{Anchor: r.Anchor, Digest: digest, Request: raw}
	if policy.Reserved(r.Anchor) {
		return e, fmt.Errorf("%w: an anchor that is kept for updates of the policy", zkbench.ErrPolicy)
	}
	for i, a := range actions {
		for j := range a.Inputs {
			e.Spends = append(e.Spends, a.Inputs[j].ID)
		}
		for j := range a.Outputs {
			if len(a.Outputs[j].Owner) == 0 {
				continue
			}
			encoded, err := a.Outputs[j].Encode()
			if err != nil {
				return e, fmt.Errorf("action %d, output %d: %w", i, j, err)
			}
			e.Creates = append(e.Creates, ledger.Created{ID: request.OutputID(r.Anchor, i, j), Token: encoded})
		}
	}
	return e, nil
}

// OfUpdate returns the entry of an update, without its time. It returns a *zkbench.DecodeError if the update makes version 0, which
// no policy comes before, and the error of the policy's Encode.
func FromUpdate(u *policy.Update, raw []byte) (e ledger.Entry, err error) {
	version := u.Policy.Version
	if version == 0 {
		return e, &zkbench.DecodeError{Path: "update.policy.version", Reason: "0, accepted: 1 or more"}
	}
	e = ledger.Entry{Anchor: policy.Anchor(version), Request: raw, Policy: version - 1, Update: true}
	e.Digest, err = u.Digest()
	return e, err
}

// Check holds a record against the entry that its request makes, in all but the time. It returns a *ledger.CorruptError that names the
// record's number and what of it is not the request's.
func Check(recorded *ledger.Record, made *ledger.Entry) error {
	what := ""
	switch {
	case !bytes.Equal(recorded.Anchor, made.Anchor):
		what = "its anchor is"
	case recorded.Digest != made.Digest:
		what = "its digest is"
	case recorded.Policy != made.Policy || recorded.Update != made.Update:
		what = "the policy under which it was accepted, or that it makes one, is"
	case !slices.EqualFunc(recorded.Spends, made.Spends, func(a, b token.ID) bool { return bytes.Equal(a, b) }):
		what = "the tokens that it spends are"
	case !slices.EqualFunc(recorded.Creates, made.Creates, func(a, b ledger.Created) bool {
		return bytes.Equal(a.ID, b.ID) && bytes.Equal(a.Token, b.Token)
	}):
		what = "the tokens that it creates are"
	default:
		return nil
	}
	return ledger.Corruptf(fmt.Sprintf("request %d", recorded.Seq), "%s not the request's", what)
}
