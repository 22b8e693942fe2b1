// Package stark defines the workloads of STARKs.
package stark

import (
	"context"
	"fmt"
	"runtime"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/memory"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stage"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/security"
)

// Defs returns the workloads.
func Defs() []workload.Def { return []workload.Def{KeccakStark()} }

// The stages that an operation is.
const (
	stageProve  = "prove"
	stageVerify = "verify"
)

// sets are the parameters, by name: those that promise bits at rates 1/2 to 1/16 too.
var sets = map[string]func(f stark.Field) (stark.Set, error){
	"secure100":  secure100(3),
	"secure128":  func(f stark.Field) (stark.Set, error) { return stark.Secure128(f), nil },
	"compare100": func(f stark.Field) (stark.Set, error) { return stark.Compare100(f), nil },

	"secure100-2":  secure100(1),
	"secure100-4":  secure100(2),
	"secure100-16": secure100(4),
}

var setNames = []string{"secure100", "secure128", "compare100", "secure100-2", "secure100-4", "secure100-16"}

func secure100(logBlowup int) func(f stark.Field) (stark.Set, error) {
	return func(f stark.Field) (stark.Set, error) { return stark.Secure100(f, logBlowup) }
}

// The axes.
var (
	bytesAxis = workload.IntAxis(workload.Axis{Name: "bytes", Usage: "bytes of the message", Smoke: "136"}, 0, 1<<20, 1360)
	fieldAxis = workload.NameAxis(workload.Axis{Name: "field", Usage: "fields"}, []string{string(stark.KoalaBear), string(stark.Goldilocks)}, []string{string(stark.KoalaBear)})
	hashAxis  = workload.NameAxis(workload.Axis{Name: "hash", Usage: "hashes of trees; poseidon is over goldilocks"}, []string{string(stark.Keccak), string(stark.Poseidon)}, []string{string(stark.Keccak)})
	setAxis   = workload.NameAxis(workload.Axis{Name: "set", Usage: "sets of parameters; secure100 is at rate 1/8, secure100-2 at 1/2"}, setNames, []string{"secure100"})
	stackAxis = workload.IntAxis(workload.Axis{Name: "stack", Usage: "columns that are one polynomial: powers of two", Smoke: "16"}, 1, 1<<8, 16)
	execAxis  = workload.ExecutorAxis(executor.Names())
)

// KeccakStark is a proof of a message's Keccak-256.
func KeccakStark() workload.Def {
	stages := workload.NameAxis(workload.Axis{Name: "stage", Key: workload.StageKey, Usage: "stages that an operation is"}, []string{stageProve, stageVerify}, []string{stageProve, stageVerify})
	return workload.Def{
		Name: "KeccakStark", Doc: "a STARK of a message with a Keccak-256 digest: its permutations and its sponge; length and digest are public, and proofs are not zero-knowledge",
		Axes:    []workload.Axis{bytesAxis, fieldAxis, hashAxis, setAxis, stackAxis, execAxis, stages},
		Resolve: resolve,
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newInstance(c, seed)
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			i, err := newInstance(c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return i.goThrough(ctx, r)
		},
	}
}

// resolve refuses trees of Poseidon over another field.
func resolve(c workload.Case) ([]workload.Case, error) {
	if c.Get("hash") == string(stark.Poseidon) && c.Get("field") != string(stark.Goldilocks) {
		return nil, &usage.ValueError{Field: "hash", Value: c.Get("hash"), Accepted: string(stark.Keccak) + " over " + c.Get("field")}
	}
	return []workload.Case{c}, nil
}

// instance is a system and the message's length.
type instance struct {
	system *keccak.System
	ex     executor.Executor
	bytes  int
	seed   uint64
	stage  string
}

func newInstance(c workload.Case, seed uint64) (*instance, error) {
	i := &instance{seed: seed, stage: c.Get(workload.StageKey)}
	var err error
	if i.bytes, err = c.Int("bytes"); err != nil {
		return nil, err
	}
	stack, err := c.Int("stack")
	if err != nil {
		return nil, err
	}
	field := stark.Field(c.Get("field"))
	set, err := sets[c.Get("set")](field)
	if err != nil {
		return nil, err
	}
	for set.Stack = 0; 1<<set.Stack < stack; set.Stack++ {
	}
	if 1<<set.Stack != stack {
		return nil, &usage.ValueError{Field: "stack", Value: c.Get("stack"), Accepted: "powers of two"}
	}
	if i.ex, err = executor.ByName(c.Get("exec")); err != nil {
		return nil, err
	}
	if i.system, err = keccak.New(stark.Config{Field: field, Hash: stark.Hash(c.Get("hash")), Set: set}, false); err != nil {
		return nil, err
	}
	need, err := i.system.Memory(hash.Blocks(i.bytes))
	if err != nil {
		return nil, err
	}
	return i, memory.Fits("proof", need)
}

// input is a message, with a proof where that is verified.
type input struct {
	message []byte
	proof   []byte
}

func (i *instance) message(seq uint64) []byte {
	message := make([]byte, i.bytes)
	_, _ = workload.Random(i.seed, seq).Read(message) // which never fails
	return message
}

func (i *instance) Input(ctx context.Context, seq uint64) (any, error) {
	in := &input{message: i.message(seq)}
	var err error
	if i.stage == stageVerify {
		in.proof, err = i.prove(ctx, in.message, stark.Options{})
	}
	return in, err
}

func (i *instance) prove(ctx context.Context, message []byte, options stark.Options) ([]byte, error) {
	return i.system.Prove(ctx, i.ex, [][]byte{message}, nil, options)
}

func (i *instance) verify(proof, message []byte) error {
	return i.system.Verify(proof, keccak.Claims([][]byte{message}, false), nil)
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	input := in.(*input)
	if i.stage == stageVerify {
		return nil, i.verify(input.proof, input.message)
	}
	return i.prove(ctx, input.message, stark.Options{})
}

// Check makes sure that a proof holds, and that what was timed can say no.
func (i *instance) Check(_ context.Context, in any, output []byte) error {
	input := in.(*input)
	if i.stage == stageVerify {
		return i.refuses(input.proof)
	}
	return i.verify(output, input.message)
}

// refuses sees to it that a proof does not verify for another message.
func (i *instance) refuses(proof []byte) error {
	if i.verify(proof, append(i.message(1<<20), 0)) == nil {
		return fmt.Errorf("%w: the proof verifies for another message", zkbench.ErrProof)
	}
	return nil
}

// figures are what a case has before it is proved: blocks, columns and proved bits, which proved
// reports.
func (i *instance) figures() (metrics []record.Metric, proved security.Report, err error) {
	blocks := hash.Blocks(i.bytes)
	if proved, err = i.system.Proved(blocks); err != nil {
		return nil, proved, err
	}
	widths := i.system.Widths()
	return []record.Metric{
		record.Blocks.Metric(float64(blocks)), record.Columns.Metric(float64(widths[0] + widths[1])),
		record.ProvedBits.Metric(float64(proved.Bits())),
	}, proved, nil
}

func (i *instance) Metrics(ctx context.Context) ([]record.Metric, error) {
	metrics, _, err := i.figures()
	if err != nil {
		return nil, err
	}
	proof, err := i.prove(ctx, i.message(0), stark.Options{})
	if err != nil {
		return nil, err
	}
	return append(metrics, record.ProofSize.Metric(float64(len(proof)))), nil
}

func (i *instance) Close() error { return nil }

// goThrough proves and verifies, phase by phase.
func (i *instance) goThrough(ctx context.Context, r *stage.Recorder) (out workload.Staged, err error) {
	metrics, proved, err := i.figures()
	if err != nil {
		return out, err
	}
	message := i.message(0)
	runtime.GC() // so that a stage's greatest memory is its own
	whole := r.Start(stageProve)
	proof, err := i.prove(ctx, message, stark.Options{Span: func(name string) func() {
		running := r.Start(stageProve + "/" + name)
		return func() { running.End() }
	}})
	if err != nil {
		return out, err
	}
	size := record.ProofSize.Metric(float64(len(proof)))
	out.Metrics = append(metrics, size)
	whole.End(out.Metrics...)
	verifying := r.Start(stageVerify)
	if err := i.verify(proof, message); err != nil {
		return out, err
	}
	verifying.End()
	out.Findings = []record.Finding{{Name: "proved bits", Text: fmt.Sprintf("%d, by %v; the round of the greatest error: %s", proved.Bits(), proved.Regime, proved.Least().Name)}}
	return out, i.refuses(proof)
}
