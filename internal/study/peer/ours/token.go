package ours

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/transcript"
)

// Panurus is the name of the peer program for LFDT-Panurus/panurus, another project for confidential tokens.
const Panurus = "panurus"

// peerBatch is the number of proofs in a batch, the same for every peer.
const peerBatch = 64

// Tokens returns the cases of our peer for tokens. The parameter proof is the kind of range proof that the peer uses,
// "bulletproof" or "csp". The first cases are range proofs over BN254, under the names that all peers use. The
// transfers for which there are figures of Panurus follow; Tokens takes their workloads from defs. The last cases
// measure the reference operation (peer.GLVCases).
func Tokens(proof string, defs []workload.Def) []peer.Case {
	var cases []peer.Case
	for _, bits := range []int{32, 64} {
		for _, m := range []int{1, 2} {
			if proof == csp.Name && m > 1 {
				continue
			}
			params := fmt.Sprintf("bits=%d/m=%d", bits, m)
			cases = append(cases,
				peer.Case{Name: "RangeProve/" + params, Setup: rangeProve(proof, bits, m)},
				peer.Case{Name: "RangeVerify/" + params, Setup: rangeVerify(proof, bits, m, 1)},
				peer.Case{Name: fmt.Sprintf("RangeVerifyBatch/%s/batch=%d", params, peerBatch), PerCall: peerBatch, Setup: rangeVerify(proof, bits, m, peerBatch)},
			)
		}
	}
	for _, t := range transferCases(proof, defs) {
		cases = append(cases, peer.Case{Name: t.name(), PerCall: max(1, t.own.Batch), Setup: t.setup})
	}
	return append(cases, peer.GLVCases()...)
}

// rangeSystem returns the range-proof system that proves m values together.
func rangeSystem(proof string, bits, m int) (rangeproof.System, error) {
	if proof == csp.Name {
		return csp.NewSystem(group.BN254(), bits)
	}
	return bulletproof.NewSystem(group.BN254(), bits, m)
}

// rangeInput derives m values below 2^bits and their blindings from a fixed seed.
func rangeInput(bits, m, index int) (values []uint64, blindings [][]byte, context []byte) {
	x := transcript.XOF("zkbench/v1/peers", fmt.Appendf(nil, "bits %d, m %d, proof %d", bits, m, index))
	b := make([]byte, 8)
	for range m {
		_, _ = x.Read(b) // a XOF never fails to read
		v := uint64(0)
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		values = append(values, v>>(64-bits))
		blinding := make([]byte, 32)
		_, _ = x.Read(blinding[1:]) // 248 bits: below the order
		blindings = append(blindings, blinding)
	}
	return values, blindings, fmt.Appendf(nil, "peers %d", index)
}

type setup = func() (op func() error, extra map[string]float64, err error)

func rangeProve(proof string, bits, m int) setup {
	return func() (func() error, map[string]float64, error) {
		s, err := rangeSystem(proof, bits, m)
		if err != nil {
			return nil, nil, err
		}
		ctx, ex := context.Background(), executor.Serial()
		values, blindings, bound := rangeInput(bits, m, 0)
		commitments, encoded, err := s.Prove(ctx, ex, bound, values, blindings, nil)
		if err != nil {
			return nil, nil, err
		}
		claim, err := s.Decode(bound, m, commitments, encoded)
		if err != nil {
			return nil, nil, err
		}
		if err := s.Verify(ctx, ex, claim); err != nil {
			return nil, nil, err
		}
		return func() error {
			_, _, err := s.Prove(ctx, ex, bound, values, blindings, nil)
			return err
		}, map[string]float64{"proof-bytes": float64(len(encoded))}, nil
	}
}

func rangeVerify(proof string, bits, m, batch int) setup {
	return func() (func() error, map[string]float64, error) {
		s, err := rangeSystem(proof, bits, m)
		if err != nil {
			return nil, nil, err
		}
		ctx, ex := context.Background(), executor.Serial()
		type encoded struct{ context, commitments, proof []byte }
		proofs := make([]encoded, batch)
		for i := range proofs {
			values, blindings, bound := rangeInput(bits, m, i)
			commitments, p, err := s.Prove(ctx, ex, bound, values, blindings, nil)
			if err != nil {
				return nil, nil, err
			}
			proofs[i] = encoded{bound, commitments, p}
		}
		claims := make([]rangeproof.Claim, batch)
		verify := func() error {
			for i, p := range proofs {
				if claims[i], err = s.Decode(p.context, m, p.commitments, p.proof); err != nil {
					return err
				}
			}
			return s.Verify(ctx, ex, claims...)
		}
		// Another proof's commitments must not pass.
		right := proofs[0]
		values, blindings, _ := rangeInput(bits, m, batch)
		if proofs[0].commitments, _, err = s.Prove(ctx, ex, nil, values, blindings, nil); err != nil {
			return nil, nil, err
		}
		if verify() == nil {
			return nil, nil, fmt.Errorf("%s: a proof was accepted for other commitments", proof)
		}
		proofs[0] = right
		return verify, map[string]float64{"proof-bytes": float64(s.ProofLen(m))}, verify()
	}
}

// transferCase is a case of a workload for which there is a figure of Panurus.
type transferCase struct {
	def    workload.Def
	params workload.Case
	own    peer.Own // without times
}

func (t *transferCase) name() string { return t.def.Name + "/" + t.params.String() }

// transferCases returns a case for each figure of Panurus whose workload is in defs. It has the figure's numbers of tokens,
// pseudonyms as owners, as Panurus has, and the defaults of all other axes. For the verification of two inputs and two
// outputs it also returns a batch.
func transferCases(proof string, defs []workload.Def) []transferCase {
	var out []transferCase
	seen := make(map[peer.Work]bool)
	for _, f := range peer.Panurus() {
		if f.Proof != proof || seen[f.Work] {
			continue
		}
		seen[f.Work] = true
		names := []string{f.Workload}
		if f.Workload == "VerificationSenderProof" && f.In == 2 {
			names = append(names, "VerificationSenderBatch")
		}
		for _, name := range names {
			def, err := workload.Find(defs, name)
			if err != nil {
				continue // a workload that this project does not have
			}
			t := transferCase{def: def, own: peer.Own{Work: f.Work}}
			wanted := workload.NewCase(
				record.Axis{Key: "curve", Value: f.Curve}, record.Axis{Key: "bits", Value: fmt.Sprint(f.Bits)},
				record.Axis{Key: "in", Value: fmt.Sprint(f.In)}, record.Axis{Key: "out", Value: fmt.Sprint(f.Out)},
				record.Axis{Key: "proof", Value: proof}, record.Axis{Key: "exec", Value: "serial"},
				record.Axis{Key: "batch", Value: fmt.Sprint(peerBatch)}, record.Axis{Key: "owner", Value: "pseudonym"},
			)
			var axes []record.Axis
			for _, a := range def.Axes {
				axes = append(axes, record.Axis{Key: a.Key, Value: a.ValueOf(wanted)})
				if a.Key == "batch" {
					t.own.Batch = peerBatch
				}
			}
			t.params = workload.NewCase(axes...)
			out = append(out, t)
		}
	}
	return out
}

// setup builds a few inputs, checks their results, and rotates through them.
func (t *transferCase) setup() (func() error, map[string]float64, error) {
	ctx := context.Background()
	instance, err := t.def.New(ctx, t.params, 1)
	if err != nil {
		return nil, nil, err
	}
	inputs := make([]any, 4)
	if t.own.Batch > 0 {
		inputs = inputs[:1]
	}
	for i := range inputs {
		if inputs[i], err = instance.Input(ctx, uint64(i)); err != nil {
			return nil, nil, err
		}
		output, err := instance.Run(ctx, inputs[i])
		if err != nil {
			return nil, nil, err
		}
		if err := instance.Check(ctx, inputs[i], output); err != nil {
			return nil, nil, err
		}
	}
	extra := make(map[string]float64)
	metrics, err := instance.Metrics(ctx)
	for _, m := range metrics {
		extra[m.Unit()] = m.Value
	}
	next := 0
	return func() error {
		_, err := instance.Run(ctx, inputs[next%len(inputs)])
		next++
		return err
	}, extra, err
}

// Transfers returns the times of our transfers in the result of a comparison, each with the time of the reference
// operation (peer.GLVCases). It returns only transfers for which there is a figure of Panurus. It leaves out a transfer
// if Panurus' own program was measured for it in the same comparison. The parameter program is the name of our program
// in the comparison. The parameter proof is the kind of range proof that our program uses.
func Transfers(result *peer.Result, program, proof string, defs []workload.Def) (rows []peer.Own) {
	for _, t := range transferCases(proof, defs) {
		own, ok := result.Find(program, t.name())
		if _, measured := result.Find(Panurus, t.name()); measured {
			continue
		}
		glv, glvOK := result.Find(program, peer.GLVCaseName(t.own.Curve))
		if ok && glvOK {
			t.own.Ns, t.own.GLVNs = own.Median, glv.Median
			rows = append(rows, t.own)
		}
	}
	return rows
}
