package receipt

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/transcript"
)

// Names of the checks of a receipt, as in a *zkbench.CheckError, in the order in which they run.
const (
	CheckParams    = "receipt's parameters" // the genesis is of a ledger with these parameters and their policy
	CheckUpdates   = "receipt's update"     // each update follows the policy before it; Index is the update's
	CheckHead      = "receipt's head"       // enough validators of the last policy have signed the head of this ledger
	CheckInclusion = "receipt's proof"      // the record is in the tree of the head
	CheckRecord    = "receipt's record"     // the record is the one that its request and the policies make
	CheckOpening   = "receipt's opening"    // the opening opens the output
)

// Checked is what a receipt proves.
type Checked struct {
	Ledger token.LedgerID
	Record ledger.Record // in the log of this ledger; its time is what the ledger's operator says
	Parsed *entry.Parsed // the record's request
	Head   head.Opened   // covers the record
	Policy *token.Policy // whose validators signed the head
	Output *Output       // that the receipt opens, or nil
}

// Output is an output of a request, and its opening.
type Output struct {
	Opening
	Owner []byte // identity or script; empty if the output is redeemed
}

// Verify verifies a receipt with nothing but the public parameters of the ledger. It returns the errors of Decode, and
// a *zkbench.CheckError that names the check that failed. Its cause is
//
//   - zkbench.ErrParams if the ledger has other parameters;
//   - an error of policy.Next about an update;
//   - an error of head.Open, for example head.ErrNoValidators or a *head.ThresholdError;
//   - zkbench.ErrProof if the proof or the opening is wrong;
//   - a *ledger.CorruptError or a *zkbench.DecodeError about the record, or zkbench.ErrPolicy if its policy is not that
//     of the updates.
func Verify(ctx context.Context, data []byte, params *token.PublicParams) (*Checked, error) {
	r, err := Decode(data)
	if err != nil {
		return nil, err
	}
	current, digests, err := r.policies(ctx, params)
	if err != nil {
		return nil, err
	}
	c := &Checked{Ledger: r.Genesis.ID(), Record: r.Record, Policy: current}
	if c.Head, err = head.Open(r.Head, c.Ledger, current); err != nil {
		return nil, failed(CheckHead, -1, err)
	}
	if err := ledger.CheckInclusion(r.Proof, c.Head.Size, c.Head.Root, r.Record.Seq, r.Record.Leaf()); err != nil {
		return nil, failed(CheckInclusion, -1, err)
	}
	pp, err := crypto(params)
	if err != nil {
		return nil, failed(CheckParams, -1, err)
	}
	if c.Parsed, err = r.parse(pp); err == nil {
		err = r.checkPolicy(digests)
	}
	if err != nil {
		return nil, failed(CheckRecord, -1, err)
	}
	if r.Opening == nil {
		return c, nil
	}
	all := outputs(c.Parsed)
	if n := r.Opening.Output; n > len(all) {
		return nil, failed(CheckOpening, -1, fmt.Errorf("%w: of output %d, the request has %d", zkbench.ErrProof, n, len(all)))
	}
	output := all[r.Opening.Output-1]
	if err := token.Opens(ctx, executor.Serial(), pp, output, r.Opening.Opening); err != nil {
		return nil, failed(CheckOpening, -1, err)
	}
	c.Output = &Output{Opening: *r.Opening, Owner: output.Owner}
	return c, nil
}

// policies verifies the updates, and returns the last policy and the digest of each version.
func (r *Receipt) policies(ctx context.Context, params *token.PublicParams) (_ *token.Policy, digests [][transcript.StateLen]byte, err error) {
	digest, err := params.Digest()
	if err == nil {
		err = r.Genesis.CheckParams(digest)
	}
	if err != nil {
		return nil, nil, failed(CheckParams, -1, err)
	}
	current, err := policy.NewCurrent(r.Genesis, &params.Policy, func(p *token.Policy) error {
		digest, err := p.Digest()
		digests = append(digests, digest)
		return err
	})
	if err != nil {
		return nil, nil, failed(CheckParams, -1, err)
	}
	updates := make(source, len(r.Updates))
	for i, u := range r.Updates {
		anchor := policy.Anchor(uint64(i) + 1)
		updates[string(anchor)] = ledger.Record{Entry: ledger.Entry{Anchor: anchor, Request: u, Policy: uint64(i), Update: true}}
	}
	if err := current.Follow(ctx, updates); err != nil {
		return nil, nil, failed(CheckUpdates, len(digests)-1, err)
	}
	return current.Load(), digests, nil
}

// source has the records of updates, by anchor. It is a policy.Source.
type source map[string]ledger.Record

func (s source) Record(_ context.Context, anchor []byte) (ledger.Record, bool, error) {
	r, found := s[string(anchor)]
	return r, found, nil
}

// checkPolicy checks that the record was accepted under a policy of the updates, and was followed by one. A head that
// covers the record is signed under that policy or a later one, so an update is missing if the record's is later.
func (r *Receipt) checkPolicy(digests [][transcript.StateLen]byte) error {
	last := uint64(len(digests) - 1)
	after := r.Record.Policy
	if r.Record.Update {
		after++ // cannot overflow: the update's own version, as entry.Check has found
	}
	if after > last {
		return fmt.Errorf("%w: accepted under policy %d, the receipt has updates up to policy %d", zkbench.ErrPolicy, after, last)
	}
	if r.Record.PolicyDigest != digests[after] {
		return fmt.Errorf("%w: accepted under another policy %d than that of the updates", zkbench.ErrPolicy, after)
	}
	return nil
}

func failed(check string, index int, err error) error {
	return &zkbench.CheckError{Check: check, Action: -1, Index: index, Err: err}
}
