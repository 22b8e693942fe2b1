package stark

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/recursion"
)

// The stages of an aggregation beyond those that an operation can be.
const (
	stageCompile  = "compile"
	stageChildren = "children"
)

// treeSets holds the parameter sets of aggregations by name.
var treeSets = map[string]func() recursion.TreeParams{
	"secure100":  recursion.Secure100,
	"secure128":  recursion.Secure128,
	"compare100": recursion.Compare100,
}

// The axes of aggregations.
var (
	proofsAxis  = workload.IntAxis(workload.Axis{Name: "proofs", Usage: "numbers of one-message proofs that are aggregated into one", Smoke: "1"}, 1, 64, 1)
	treeSetAxis = workload.NameAxis(workload.Axis{Name: "set", Usage: "sets of parameters for all layers"}, []string{"secure100", "secure128", "compare100"}, []string{"secure100"})
)

// KeccakAggregate returns the workload that makes one proof for the Keccak-256 of many messages, by recursion, or
// verifies such a proof.
func KeccakAggregate() workload.Def {
	return workload.Def{
		Name: "KeccakAggregate", Noun: "one proof of several Keccak-256 digests", Doc: "one proof for the Keccak-256 digests of several messages, by recursion: one STARK per message, then one proof of all of them; lengths and digests are public, and the messages can be read from the proofs",
		Axes: []workload.Axis{bytesAxis, proofsAxis, treeSetAxis, execAxis, stageAxis},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newAggregate(ctx, c, seed)
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			compiling := r.Start(stageCompile)
			a, err := newAggregate(ctx, c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			compiling.End()
			return a.goThrough(ctx, r)
		},
	}
}

// aggregate is one case: an aggregation and the length of its messages.
type aggregate struct {
	*keccak.Aggregation
	ex            executor.Executor
	bytes, proofs int
	seed          uint64
	stage         string
}

func newAggregate(ctx context.Context, c workload.Case, seed uint64) (a *aggregate, err error) {
	a = &aggregate{seed: seed, stage: c.Get(record.StageKey)}
	if a.bytes, err = c.Int("bytes"); err != nil {
		return nil, err
	}
	if a.proofs, err = c.Int("proofs"); err != nil {
		return nil, err
	}
	if a.ex, err = workload.Executor(ctx, c.Get("exec")); err != nil {
		return nil, err
	}
	a.Aggregation, err = keccak.NewAggregationOn(ctx, a.ex, treeSets[c.Get("set")](), keccak.Batch{Messages: 1, Blocks: hash.Blocks(a.bytes)}, a.proofs)
	if err != nil {
		return nil, err
	}
	need, err := a.Memory()
	if err != nil {
		return nil, err
	}
	return a, fits(ctx, a.stage, need)
}

// batch holds messages and the claims about them, and the proof if the operation verifies it.
type batch struct {
	messages [][][]byte
	claims   [][]keccak.Claim
	proof    []byte
}

func (a *aggregate) batch(seq uint64) *batch {
	b := &batch{}
	random := workload.Random(a.seed, seq)
	for range a.proofs {
		message := make([]byte, a.bytes)
		_, _ = random.Read(message) // which never fails
		b.messages = append(b.messages, [][]byte{message})
		b.claims = append(b.claims, keccak.Claims([][]byte{message}, stark.Exposed))
	}
	return b
}

func (a *aggregate) Input(ctx context.Context, seq uint64) (any, error) {
	b := a.batch(seq)
	var err error
	if a.stage == stageVerify {
		b.proof, err = a.Prove(ctx, a.ex, b.messages, nil, stark.Options{})
	}
	return b, err
}

func (a *aggregate) Run(ctx context.Context, in any) ([]byte, error) {
	b := in.(*batch)
	if a.stage == stageVerify {
		return nil, a.Verify(b.proof, b.claims, nil)
	}
	return a.Prove(ctx, a.ex, b.messages, nil, stark.Options{})
}

// Check verifies a new proof. If the operation is a verification, Check makes sure that it rejects another digest.
func (a *aggregate) Check(_ context.Context, in any, output []byte) error {
	b := in.(*batch)
	if a.stage == stageVerify {
		return a.refuses(b.proof, b)
	}
	return a.Verify(output, b.claims, nil)
}

// refuses returns an error if the proof verifies with another digest for the last message.
func (a *aggregate) refuses(proof []byte, b *batch) error {
	claims, last := slices.Clone(b.claims), a.proofs-1 // because other operations use the batch's own claims
	claims[last] = slices.Clone(claims[last])
	claims[last][0].Digest[0] ^= 1
	if a.Verify(proof, claims, nil) == nil {
		return fmt.Errorf("%w: the proof verifies for another digest", zkbench.ErrProof)
	}
	return nil
}

// figures returns the metrics that are known before a case is proved: the blocks of all messages, and the proved bits
// of the whole chain of proofs.
func (a *aggregate) figures() ([]record.Metric, error) {
	bits, err := a.Tree().System().Bits()
	return []record.Metric{
		record.Blocks.Metric(float64(a.proofs * hash.Blocks(a.bytes))), record.ProvedBits.Metric(float64(bits)),
	}, err
}

func (a *aggregate) Metrics(ctx context.Context) ([]record.Metric, error) {
	metrics, err := a.figures()
	if err != nil {
		return nil, err
	}
	proof, err := a.Prove(ctx, a.ex, a.batch(0).messages, nil, stark.Options{})
	return append(metrics, record.ProofSize.Metric(float64(len(proof)))), err
}

func (a *aggregate) Close() error { return nil }

// spans returns a function for stark.Options.Span. For each layer it records three stages: trace, commit, and the rest
// of the proof. With so few stages, two layers fit on a screen.
func spans(r *stage.Recorder) func(name string) func() {
	var rest *stage.Stage
	return func(name string) func() {
		layer, phase := path.Split(name)
		switch phase {
		case stark.PhaseTrace, stark.PhaseCommit:
			running := r.Start(stageProve + "/" + name)
			return func() { running.End() }
		case stark.PhaseSums:
			rest = r.Start(stageProve + "/" + layer + stageProve)
		case stark.PhaseQueries:
			return func() { rest.End() }
		}
		return func() {}
	}
}

// goThrough proves the children and then each layer, and verifies the last proof.
func (a *aggregate) goThrough(ctx context.Context, r *stage.Recorder) (out workload.Staged, err error) {
	if out.Metrics, err = a.figures(); err != nil {
		return out, err
	}
	b := a.batch(0)
	runtime.GC() // so that a stage's peak memory is its own
	whole := r.Start(stageProve)
	running := r.Start(stageProve + "/" + stageChildren)
	proofs, err := a.Batches(ctx, a.ex, b.messages, stark.Options{})
	if err != nil {
		return out, err
	}
	size := 0
	for _, p := range proofs {
		size += len(p.Bytes)
	}
	running.End(record.ProofSize.Metric(float64(size)))
	proof, err := a.Tree().Prove(ctx, a.ex, proofs, nil, stark.Options{Span: spans(r)})
	if err != nil {
		return out, err
	}
	out.Metrics = append(out.Metrics, record.ProofSize.Metric(float64(len(proof))))
	whole.End(out.Metrics...)
	verifying := r.Start(stageVerify)
	if err := a.Verify(proof, b.claims, nil); err != nil {
		return out, err
	}
	verifying.End()
	out.Findings = []record.Finding{{Name: "proofs of each layer", Text: fmt.Sprint(append([]int{a.proofs}, a.Tree().Layers()...))}}
	return out, a.refuses(proof, b)
}
