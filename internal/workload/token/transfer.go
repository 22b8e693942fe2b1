package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// TransferProofGeneration returns the workload that proves a transfer. Only the proof and its encoding are
// timed.
func TransferProofGeneration() workload.Def {
	return define("TransferProofGeneration", "the proof of a transfer", "prove a transfer: the proof and its encoding only",
		token.Transfer, func(s *setup) workload.Instance { return &proofGeneration{s} })
}

// Sender returns the workload that builds a sender from its inputs, proves a transfer and
// encodes it.
func Sender() workload.Def {
	def := define("Sender", "a transfer", "build the sender from its inputs, prove a transfer, encode the action",
		token.Transfer, func(s *setup) workload.Instance { return &sender{s} })
	def.Alias = "transfer"
	return def
}

// SenderConstantTime returns a workload like Sender in which sums over secrets take constant time. The workload
// has only the curves that support such sums.
func SenderConstantTime() workload.Def {
	def := Sender()
	def.Name, def.Alias = "SenderConstantTime", ""
	def.Noun, def.Doc = "a transfer in constant time", "same as sender, but with sums over secrets in constant time"
	def.Axes[0] = curveAxis(constantTimeCurves(), constantTimeCurves()[:1])
	def.New = func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
		s, err := newSetup(ctx, c, token.Tuning{ConstantTime: true}, token.Transfer, seed)
		return &sender{s}, err
	}
	return def
}

// VerificationSenderProof returns the workload that decodes a transfer and verifies it.
func VerificationSenderProof() workload.Def {
	return define("VerificationSenderProof", "verifying a transfer", "decode a transfer and verify it",
		token.Transfer, func(s *setup) workload.Instance { return &verification{s} })
}

// VerificationSenderBatch returns the workload that decodes a batch of transfers and
// verifies them together. One operation is the whole batch.
func VerificationSenderBatch() workload.Def {
	return define("VerificationSenderBatch", "verifying a batch of transfers", "decode a batch of transfers and verify them together; the time is for the whole batch",
		token.Transfer, func(s *setup) workload.Instance { return &batchVerification{verification{s}} }, workload.BatchAxis())
}

// payment holds what a sender makes a transfer from.
type payment struct {
	owned   []action.Owned
	outputs []action.Output
	anchor  string
}

// payment builds the payment with sequence number seq.
func (s *setup) payment(ctx context.Context, seq uint64) (*payment, error) {
	return s.paymentOf(ctx, seq, seq)
}

// paymentOf builds the payment with sequence number seq, which has its own owners,
// blindings and anchor. Its values are those of the sequence number values.
func (s *setup) paymentOf(ctx context.Context, seq, values uint64) (*payment, error) {
	r, v := s.corpus("payment", seq), s.corpus("values", values)
	total := s.total(v)
	// The inputs are the outputs of an issue that the corpus does not prove.
	issued := outputs(r, split(v, total, s.in))
	p := &payment{anchor: anchorOf(seq), outputs: outputs(r, split(v, total, s.out))}
	d, err := action.NewIssue(ctx, s.ex, s.pp, tokenType, action.Spec{Outputs: issued, Anchor: token.Anchor(p.anchor), Rand: r})
	if err != nil {
		return nil, err
	}
	for i := range d.Outputs {
		id := append([]byte(p.anchor), byte(i))
		p.owned = append(p.owned, action.Owned{Input: action.Input{ID: id, Token: d.Outputs[i]}, Opening: d.Openings[i]})
	}
	return p, nil
}

// secretSeq is the first sequence number of secret inputs. It is so large that all of
// them, and so all anchors and ids made from them, have equally many digits.
const secretSeq = 1 << 50

// secretPayment builds a payment with fixed values if fixed is set, and with its own values
// if not.
func (s *setup) secretPayment(ctx context.Context, seq uint64, fixed bool) (*payment, error) {
	seq += secretSeq + 1
	if fixed {
		return s.paymentOf(ctx, seq, secretSeq)
	}
	return s.payment(ctx, seq)
}

// send returns the encoded transfer of a payment. The prover's randomness is from rand, or
// from the parameters' source if rand is nil.
func (s *setup) send(ctx context.Context, p *payment, rand io.Reader) ([]byte, error) {
	d, err := s.draft(ctx, p, token.Anchor(p.anchor), rand)
	if err != nil {
		return nil, err
	}
	return d.Prove(ctx)
}

// draft returns the unproven transfer of a payment.
func (s *setup) draft(ctx context.Context, p *payment, anchor token.Anchor, rand io.Reader) (*action.Draft, error) {
	sender, err := action.NewSender(ctx, s.ex, s.pp, p.owned)
	if err != nil {
		return nil, err
	}
	return sender.Transfer(ctx, action.Spec{Outputs: p.outputs, Anchor: anchor, Rand: rand})
}

// receive decodes and verifies an encoded action of the case's kind. It does not look up the inputs on a ledger.
func (s *setup) receive(ctx context.Context, raw []byte, anchor string) error {
	a, err := action.Decode(s.pp, s.kind, raw)
	if err != nil {
		return err
	}
	return a.Verify(ctx, s.ex, action.NothingLookedUp(), token.Anchor(anchor))
}

type sender struct{ *setup }

// Metrics adds the length of the encoded transfer to the sizes of the case.
func (s *sender) Metrics(ctx context.Context) ([]record.Metric, error) {
	p, err := s.payment(ctx, 0)
	if err != nil {
		return nil, err
	}
	raw, err := s.send(ctx, p, s.corpus("prover", 0))
	if err != nil {
		return nil, err
	}
	return s.withSize(ctx, record.ActionSize, raw)
}

func (s *sender) Input(ctx context.Context, seq uint64) (any, error) { return s.payment(ctx, seq) }

func (s *sender) Run(ctx context.Context, input any) ([]byte, error) {
	return s.send(ctx, input.(*payment), nil)
}

func (s *sender) Check(ctx context.Context, input any, output []byte) error {
	return s.receive(ctx, output, input.(*payment).anchor)
}

// SecretInput builds a payment with the same values each time if fixed is set, and with
// others if not. In both cases everything public about it, such as its commitments, is new.
func (s *sender) SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error) {
	return s.secretPayment(ctx, seq, fixed)
}

type proofGeneration struct{ *setup }

func (g *proofGeneration) Input(ctx context.Context, seq uint64) (any, error) {
	p, err := g.payment(ctx, seq)
	if err != nil {
		return nil, err
	}
	return g.prepare(ctx, p, g.corpus("prover", seq))
}

// SecretInput builds the same payments as sender.SecretInput, with new blindings for the
// outputs.
func (g *proofGeneration) SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error) {
	p, err := g.secretPayment(ctx, seq, fixed)
	if err != nil {
		return nil, err
	}
	return g.prepare(ctx, p, nil)
}

// prepared is a transfer that lacks only its proof.
type prepared struct {
	draft  *action.Draft
	anchor string
}

func (g *proofGeneration) prepare(ctx context.Context, p *payment, rand io.Reader) (*prepared, error) {
	d, err := g.draft(ctx, p, token.Anchor(p.anchor), rand)
	return &prepared{d, p.anchor}, err
}

func (g *proofGeneration) Run(ctx context.Context, input any) ([]byte, error) {
	return input.(*prepared).draft.Prove(ctx)
}

func (g *proofGeneration) Check(ctx context.Context, input any, output []byte) error {
	return g.receive(ctx, output, input.(*prepared).anchor)
}

// verification verifies an action of the case's kind.
type verification struct{ *setup }

// encoded is an encoded action and the anchor that it is verified with.
type encoded struct {
	raw    []byte
	anchor string
}

func (v *verification) Input(ctx context.Context, seq uint64) (any, error) {
	if v.kind == token.Issue {
		o := v.order(seq)
		raw, err := v.issue(ctx, o, v.corpus("prover", seq))
		return &encoded{raw, o.anchor}, err
	}
	p, err := v.payment(ctx, seq)
	if err != nil {
		return nil, err
	}
	raw, err := v.send(ctx, p, v.corpus("prover", seq))
	return &encoded{raw, p.anchor}, err
}

func (v *verification) Run(ctx context.Context, input any) ([]byte, error) {
	e := input.(*encoded)
	return nil, v.receive(ctx, e.raw, e.anchor)
}

// Check makes sure that the timed verification rejects a changed proof.
func (v *verification) Check(ctx context.Context, input any, _ []byte) error {
	e := input.(*encoded)
	return rejects(e.raw, func(raw []byte) error { return v.receive(ctx, raw, e.anchor) })
}

type batchVerification struct{ verification }

func (b *batchVerification) Input(ctx context.Context, seq uint64) (any, error) {
	batch := make([]*encoded, b.batch)
	for i := range batch {
		e, err := b.verification.Input(ctx, seq*uint64(b.batch)+uint64(i))
		if err != nil {
			return nil, err
		}
		batch[i] = e.(*encoded)
	}
	return batch, nil
}

func (b *batchVerification) Run(ctx context.Context, input any) ([]byte, error) {
	batch := input.([]*encoded)
	items := make([]action.Item, len(batch))
	err := b.ex.Do(ctx, len(batch), func(_ context.Context, i int) error {
		a, err := action.Decode(b.pp, b.kind, batch[i].raw)
		items[i] = action.Item{Action: a, Anchor: token.Anchor(batch[i].anchor)}
		return err
	})
	if err != nil {
		return nil, err
	}
	return nil, action.VerifyBatch(ctx, b.ex, b.pp, action.NothingLookedUp(), items)
}

// Check makes sure that the timed verification rejects a batch with one bad action, and names it.
func (b *batchVerification) Check(ctx context.Context, input any, _ []byte) error {
	batch := slices.Clone(input.([]*encoded))
	bad := len(batch) / 2
	batch[bad] = &encoded{batch[bad].raw, "another anchor"}
	_, err := b.Run(ctx, batch)
	var c *zkbench.CheckError
	if !errors.As(err, &c) || c.Action != bad || !errors.Is(err, zkbench.ErrProof) {
		return fmt.Errorf("a batch with action %d bad was not rejected for it: %v", bad, err)
	}
	return nil
}
