// Package receipt makes and verifies receipts. A receipt is a file that proves to somebody who has only the public
// parameters that a record is in a ledger's log. It may also open one output of the record's request: then it shows
// the value, the type and the owner of that output, and no other value.
//
// A receipt is a C2SP transparency log proof (https://c2sp.org/tlog-proof). It has the record's number, a proof of
// inclusion (RFC 6962, section 2.1.1), and a signed head (package head). Its line of extra data has what else a
// verifier needs: the ledger's genesis, the record, and the updates of the policy up to the one under which the head
// was signed. docs/ledger.md shows the format.
//
// Verify believes the validators who signed the head that the record is valid: it does not verify the request's proofs
// and signatures. It cannot know updates that the receipt leaves out. So if validators were replaced, a verifier must
// ask for a receipt under a policy that has the new ones (Checked.Policy).
package receipt

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// Receipt is a decoded receipt. It may say anything: Verify verifies an encoded one.
type Receipt struct {
	Genesis ledger.Genesis
	Record  ledger.Record
	Updates [][]byte // encoded updates of the policy, the one to version 1 first
	Opening *Opening // nil: the receipt opens no output

	Proof tlog.RecordProof // of the record, in the tree of the head
	Head  []byte           // signed
}

// Opening opens one output of a record's request. It is secret until the receipt is shown.
type Opening struct {
	Output int // number of the output: from 1, counted over all actions of the request
	token.Opening
}

// maxOutput is the largest number of an output.
const maxOutput = request.MaxActions * token.MaxTokens

// ErrNoRecord is returned for an anchor that no record of the ledger has. It wraps zkbench.ErrParams.
var ErrNoRecord = fmt.Errorf("%w: no request on the ledger has this anchor", zkbench.ErrParams)

// HeadError reports that no signed head covers a record. It wraps zkbench.ErrEnv: validators may sign one later.
type HeadError struct {
	Record uint64 // number of the record
	Leaves uint64 // of the last signed head; 0 if there is none
}

func (e *HeadError) Error() string {
	last := "the ledger has none"
	if e.Leaves > 0 {
		last = fmt.Sprintf("the last one has %d leaves", e.Leaves)
	}
	return fmt.Sprintf("%v: no signed head covers request %d: %s; validators sign heads if the policy names them", zkbench.ErrEnv, e.Record, last)
}

func (e *HeadError) Unwrap() error { return zkbench.ErrEnv }

// Make returns a receipt for the record with the given anchor. It has the newest head that counts on the ledger, which
// must cover the record, and the updates of the policy among the records that this head covers. It opens no output.
//
// Make does not verify the head's signatures, because the reader does not have the parameters. Verify does. Make
// returns ErrNoRecord, a *HeadError, a *head.LedgerError if the head is of another ledger, zkbench.ErrProof if
// it is not of this log, a *zkbench.LimitError beyond MaxUpdates or MaxReceipt, and errors of the reader.
func Make(ctx context.Context, l ledger.Reader, anchor []byte) (*Receipt, error) {
	record, found, err := l.Record(ctx, anchor)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNoRecord
	}
	r := &Receipt{Genesis: l.Genesis(), Record: record}
	if r.Head, err = l.Head(ctx); err != nil {
		return nil, err
	}
	if len(r.Head) == 0 {
		return nil, &HeadError{Record: record.Seq}
	}
	h, err := head.ParseSigned(r.Head)
	switch id := r.Genesis.ID(); {
	case err != nil:
		return nil, err
	case h.Ledger != id:
		return nil, &head.LedgerError{Got: h.Ledger, Want: id}
	case h.Size <= record.Seq:
		return nil, &HeadError{Record: record.Seq, Leaves: h.Size}
	}
	if r.Proof, err = ledger.Inclusion(ctx, l, h.Size, record.Seq); err != nil {
		return nil, err
	}
	if err := ledger.CheckInclusion(r.Proof, h.Size, h.Root, record.Seq, record.Leaf()); err != nil {
		return nil, err
	}
	size := len(record.Request)
	for version := uint64(1); ; version++ { // the reader may be a server, which may make up records without end
		update, found, err := l.Record(ctx, policy.Anchor(version))
		if err != nil {
			return nil, err
		}
		if !found || update.Seq >= h.Size {
			return r, nil
		}
		if version > MaxUpdates {
			return nil, &zkbench.LimitError{What: "updates of the policy", Estimate: int64(version), Max: MaxUpdates}
		}
		if size += len(update.Request); size > MaxReceipt {
			return nil, &zkbench.LimitError{What: "bytes of receipt", Estimate: int64(size), Max: MaxReceipt}
		}
		r.Updates = append(r.Updates, update.Request)
	}
}

// Open makes the receipt show an output: the one of the record's request that the opening opens. It returns
// zkbench.ErrProof if there is none, and other errors as token.Opens.
func (r *Receipt) Open(ctx context.Context, params *token.PublicParams, o token.Opening) error {
	pp, err := crypto(params)
	if err != nil {
		return err
	}
	parsed, err := r.parse(pp)
	if err != nil {
		return err
	}
	commitments, err := pp.Commit(ctx, executor.Serial(), []token.Opening{o})
	if err != nil {
		return err
	}
	for i, output := range outputs(parsed) {
		if string(output.Commitment) == string(commitments[0]) {
			r.Opening = &Opening{Output: i + 1, Opening: o}
			return nil
		}
	}
	return fmt.Errorf("%w: the opening is of no output of request %d", zkbench.ErrProof, r.Record.Seq)
}

// crypto returns parameters that compute commitments, which are the same under all range-proof systems.
func crypto(params *token.PublicParams) (token.CryptoParams, error) {
	if len(params.RangeProofs) == 0 {
		return nil, fmt.Errorf("%w: no range-proof systems, accepted are 1 or more", zkbench.ErrParams)
	}
	return params.Crypto(params.RangeProofs[0].ProofType, token.LeastTables())
}

// parse decodes the record's request and checks that the record's other fields follow from it. What does not follow
// from it is the record's time, and for a request the policy.
func (r *Receipt) parse(pp token.CryptoParams) (*entry.Parsed, error) {
	parsed, err := entry.Parse(r.Genesis.ForRecord(r.Record.Seq).ID(), pp.PointLen(), r.Record.Request)
	if err != nil {
		return nil, err
	}
	if parsed.Update == nil {
		parsed.Entry.Policy, parsed.Entry.PolicyDigest = r.Record.Policy, r.Record.PolicyDigest
	}
	return parsed, entry.Check(&r.Record, &parsed.Entry)
}

// outputs returns the outputs of all actions of a request, in order. An update has none.
func outputs(p *entry.Parsed) (all []*token.Token) {
	for _, a := range p.Actions {
		for i := range a.Outputs {
			all = append(all, &a.Outputs[i])
		}
	}
	return all
}
