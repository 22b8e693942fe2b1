// Package entry computes the ledger entry of a request or policy update: its anchor, its digest,
// the tokens that it spends, and the tokens that it creates. Validators write these entries.
// Wallets, auditors and replays compute them again from the recorded request, so they need not
// trust the other fields of a record.
//
// The package only decodes. It verifies neither signatures nor proofs.
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

// Parsed is a decoded request or policy update, with its ledger entry.
type Parsed struct {
	Request *request.Request // nil for an update
	Actions []*action.Action // of the request
	Update  *policy.Update   // nil for a request

	// Entry has no time, and for a request no policy version and digest: they are not part of a request.
	Entry ledger.Entry
}

// Parse decodes a request or policy update for the ledger with the given id. Commitments in it have pointLen
// bytes. Parse does no curve arithmetic. The entry keeps references into raw.
//
// Parse returns a *zkbench.DecodeError if raw is malformed, and ErrParams if an update's policy is not
// accepted. It returns ErrPolicy if a request has an anchor that is reserved for updates.
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

// FromRequest returns the entry of a request with the given actions and digest. It does not set the
// entry's time, policy version and policy digest. An output without an owner is redeemed, so the entry does not
// create it. FromRequest returns ErrPolicy if the anchor is reserved for updates.
func FromRequest(r *request.Request, actions []*action.Action, digest [32]byte, raw []byte) (ledger.Entry, error) {
	e := ledger.Entry{Anchor: r.Anchor, Digest: digest, Request: raw}
	if policy.Reserved(r.Anchor) {
		return e, fmt.Errorf("%w: the anchor is reserved for policy updates", zkbench.ErrPolicy)
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

// FromUpdate returns the entry of a policy update. It does not set the entry's time. It returns a
// *zkbench.DecodeError if the update's policy has version 0, which cannot follow another policy. It
// returns the error of the policy's Encode if the policy cannot be encoded.
func FromUpdate(u *policy.Update, raw []byte) (e ledger.Entry, err error) {
	version := u.Policy.Version
	if version == 0 {
		return e, &zkbench.DecodeError{Path: "update.policy.version", Reason: "0, accepted: 1 or more"}
	}
	e = ledger.Entry{Anchor: policy.Anchor(version), Request: raw, Policy: version - 1, Update: true}
	if e.Digest, err = u.Digest(); err == nil {
		e.PolicyDigest, err = u.Policy.Digest()
	}
	return e, err
}

// Check compares a record of a ledger with an entry that was computed from the record's request. It compares
// everything except the time. It returns a *ledger.CorruptError that names the record's number and the field
// that differs.
func Check(recorded *ledger.Record, made *ledger.Entry) error {
	what := ""
	switch {
	case !bytes.Equal(recorded.Anchor, made.Anchor):
		what = "its anchor is"
	case recorded.Digest != made.Digest:
		what = "its digest is"
	case recorded.Policy != made.Policy || recorded.PolicyDigest != made.PolicyDigest || recorded.Update != made.Update:
		what = "its policy version, policy digest or update flag is"
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
