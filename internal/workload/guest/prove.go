package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

// The stages that an operation can be.
const (
	stageProve  = "prove"
	stageVerify = "verify"
)

// The programs, which bare/build.sh makes.
var (
	//go:embed bare/hash.elf
	hashProgram []byte
	//go:embed bare/loop.elf
	loopProgram []byte
)

// bare describes a program without an operating system, whose runs are proved.
type bare struct {
	name              string
	elf               []byte
	size, least, most int // the default, and the bounds of what is accepted: runs of up to 2^20 cycles
	input             func(r *rand.ChaCha8, size int) (raw, want []byte)
}

var bares = []*bare{
	{name: "hash", elf: hashProgram, size: 200, most: 10_000, input: hashed},
	{name: "loop", elf: loopProgram, size: 5_000, most: 200_000, input: summed},
}

// hashed makes a message of size bytes. The output is its SHA-256.
func hashed(r *rand.ChaCha8, size int) (raw, want []byte) {
	raw = make([]byte, size)
	_, _ = r.Read(raw) // which never fails
	digest := sha256.Sum256(raw)
	return raw, digest[:]
}

// summed makes the first two numbers of a sequence in which each number is the sum of the two before. The output is the
// number after size turns.
func summed(r *rand.ChaCha8, size int) (raw, want []byte) {
	a, b := r.Uint64(), r.Uint64()
	for _, n := range []uint64{uint64(size), a, b} {
		raw = binary.LittleEndian.AppendUint64(raw, n)
	}
	for range size {
		a, b = b, a+b
	}
	return raw, binary.LittleEndian.AppendUint64(nil, a)
}

// The axes of GuestProve.
var (
	bareAxis     = workload.NameAxis(workload.Axis{Name: "guest", Usage: "programs (hash: SHA-256; loop: sums)"}, bareNames(), bareNames())
	bareSizeAxis = workload.IntAxis(workload.Axis{Name: "size", Usage: "sizes of the input (bytes for hash, turns for loop)"}, 0, 200_000).Dependent("the program's default size")
	treesAxis    = workload.NameAxis(workload.Axis{Name: "hash", Usage: "hash functions of the Merkle trees"}, []string{string(stark.Keccak), string(stark.Poseidon)}, []string{string(stark.Keccak)})
	execAxis     = workload.ExecutorAxis(executor.Names())
	stageAxis    = workload.NameAxis(workload.Axis{Name: "stage", Key: record.StageKey, Usage: "stages to measure"}, []string{stageProve, stageVerify}, []string{stageProve, stageVerify})
)

func bareNames() (all []string) {
	for _, b := range bares {
		all = append(all, b.name)
	}
	return all
}

// GuestProve returns the workload that proves a run of a program, or verifies the proof.
func GuestProve() workload.Def {
	return workload.Def{
		Name: "GuestProve", Noun: "a proof of a RISC-V program's run", Doc: "prove the run of a RISC-V program without an operating system, or verify the proof: SHA-256 of a message, or a loop of sums; input and output are checked; 100 proved bits; the proof does not hide the input",
		Axes:    []workload.Axis{bareAxis, bareSizeAxis, treesAxis, execAxis, stageAxis},
		Resolve: resolveBare,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newProving(ctx, c, seed)
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			p, err := newProving(ctx, c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return p.goThrough(ctx, r)
		},
	}
}

// resolveBare gives a program its default size if the case names none, and refuses sizes whose runs are too long.
func resolveBare(c workload.Case) ([]workload.Case, error) {
	b := bareOf(c)
	if size := c.Get(bareSizeAxis.Key); size == workload.Own || size == workload.All {
		c = c.With(bareSizeAxis.Key, fmt.Sprint(b.size))
	}
	n, err := c.Int(bareSizeAxis.Key)
	if err != nil {
		return nil, err
	}
	if n < b.least || n > b.most {
		return nil, &argument.ValueError{Field: bareSizeAxis.Key, Value: fmt.Sprint(n), Accepted: fmt.Sprintf("of %s: %d to %d", b.name, b.least, b.most)}
	}
	return []workload.Case{c}, nil
}

func bareOf(c workload.Case) *bare {
	i := slices.IndexFunc(bares, func(b *bare) bool { return b.name == c.Get(bareAxis.Key) })
	return bares[max(i, 0)]
}

// proving is one case of GuestProve.
type proving struct {
	*bare
	size    int
	program *zkvm.Program
	key     zkvm.Key
	hash    stark.Hash
	ex      executor.Executor
	stage   string
	seed    uint64
	plan    zkvm.Plan // of each proof, since a run's length depends on the size alone
}

func newProving(ctx context.Context, c workload.Case, seed uint64) (p *proving, err error) {
	p = &proving{bare: bareOf(c), hash: stark.Hash(c.Get(treesAxis.Key)), stage: c.Get(record.StageKey), seed: seed}
	if p.size, err = c.Int(bareSizeAxis.Key); err != nil {
		return nil, err
	}
	if p.ex, err = workload.Executor(ctx, c.Get(record.ExecutorKey)); err != nil {
		return nil, err
	}
	if p.program, err = zkvm.Load(p.elf); err != nil {
		return nil, err
	}
	if p.key, err = p.program.Key(ctx, p.ex, p.hash); err != nil {
		return nil, err
	}
	return p, p.planned(ctx)
}

// errPlanned ends a proof that is only planned.
var errPlanned = errors.New("planned")

// planned sets the plan. It returns an error if there is not enough memory for the proofs: in the stage prove each worker
// makes one, and for the stage verify they are made one at a time.
func (p *proving) planned(ctx context.Context) error {
	_, err := p.prove(ctx, p.subject(0), zkvm.Options{Plan: func(plan zkvm.Plan) error {
		p.plan = plan
		return errPlanned
	}})
	if !errors.Is(err, errPlanned) {
		return err
	}
	debug.FreeOSMemory() // of the run's rows, which are not what is measured
	workers := 1
	if p.stage != stageVerify {
		workers = max(1, workload.Workers(ctx))
	}
	return memory.Fits("memory for proofs", uint64(workers)*p.plan.Memory)
}

// proved is an input with the output that is correct for it, and the proof if the operation verifies it.
type proved struct {
	input
	proof []byte
}

// subject returns the input with a sequence number.
func (p *proving) subject(seq uint64) *proved {
	raw, want := p.input(workload.Random(p.seed, seq), p.size)
	return &proved{input: input{raw, want}}
}

func (p *proving) prove(ctx context.Context, of *proved, o zkvm.Options) ([]byte, error) {
	o.Hash = p.hash
	proof, _, err := p.program.Prove(ctx, p.ex, of.raw, zkvm.About{}, o)
	return proof, err
}

// verify verifies a proof, and that it is about the input and its correct output.
func (p *proving) verify(of *proved, proof []byte) error {
	run, err := zkvm.Verify(p.key, proof, zkvm.About{})
	if err != nil {
		return err
	}
	if run.Input != zkvm.DigestOf(of.raw) || !bytes.Equal(run.Output, of.want) {
		return fmt.Errorf("%w: of another input or output", zkbench.ErrProof)
	}
	return nil
}

// refuses returns an error if a proof verifies for another context.
func (p *proving) refuses(proof []byte) error {
	if _, err := zkvm.Verify(p.key, proof, zkvm.About{Context: []byte("another")}); err == nil {
		return fmt.Errorf("%w: the proof verifies in another context", zkbench.ErrProof)
	}
	return nil
}

func (p *proving) Input(ctx context.Context, seq uint64) (any, error) {
	of := p.subject(seq)
	var err error
	if p.stage == stageVerify {
		of.proof, err = p.prove(ctx, of, zkvm.Options{})
	}
	return of, err
}

func (p *proving) Run(ctx context.Context, in any) ([]byte, error) {
	of := in.(*proved)
	if p.stage == stageVerify {
		return nil, p.verify(of, of.proof)
	}
	return p.prove(ctx, of, zkvm.Options{})
}

// Check verifies a new proof. If the operation is a verification, Check makes sure that it rejects another context.
func (p *proving) Check(_ context.Context, in any, output []byte) error {
	of := in.(*proved)
	if p.stage == stageVerify {
		return p.refuses(of.proof)
	}
	return p.verify(of, output)
}

// figures returns the metrics that are known before a proof is made.
func (p *proving) figures() []record.Metric {
	cells := math.Round(float64(p.plan.Cells)/float64(p.plan.Cycles)*100) / 100
	return []record.Metric{
		record.GuestCycles.Metric(float64(p.plan.Cycles)), record.CycleCells.Metric(cells),
		record.ProvedBits.Metric(float64(p.plan.Bits)),
	}
}

func (p *proving) Metrics(ctx context.Context) ([]record.Metric, error) {
	proof, err := p.prove(ctx, p.subject(0), zkvm.Options{})
	return append(p.figures(), record.ProofSize.Metric(float64(len(proof)))), err
}

func (p *proving) Close() error { return nil }

// goThrough proves and verifies once, and records each phase of proving as a stage.
func (p *proving) goThrough(ctx context.Context, r *stage.Recorder) (out workload.Staged, err error) {
	of := p.subject(0)
	runtime.GC() // so that a stage's peak memory is its own
	whole := r.Start(stageProve)
	proof, err := p.prove(ctx, of, zkvm.Options{Span: func(name string) func() {
		running := r.Start(stageProve + "/" + name)
		return func() { running.End() }
	}})
	if err != nil {
		return out, err
	}
	out.Metrics = append(p.figures(), record.ProofSize.Metric(float64(len(proof))))
	whole.End(out.Metrics...)
	verifying := r.Start(stageVerify)
	if err := p.verify(of, proof); err != nil {
		return out, err
	}
	verifying.End()
	return out, p.refuses(proof)
}
