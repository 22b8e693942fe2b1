// Package stark defines the workloads that prove and verify with STARKs.
package stark

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/security"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def {
	return []workload.Def{KeccakStark(), KeccakAggregate(), ProofBatch(), StarkMix()}
}

// The stages that an operation can be.
const (
	stageProve  = "prove"
	stageVerify = "verify"
)

// The tables that a proof can have. Cases with both, the default, do not have the key, so that they have the same
// names as in records made before the axis existed.
const (
	tableBoth         = "both"
	tablePermutations = "permutations"
	tableSponges      = "sponges"
)

// The values of the axis zk: whether proofs are zero-knowledge.
const (
	plain = "no"
	zero  = "yes"
)

// The values of the axis lean: whether proofs are made in less memory, in more time.
const (
	roomy = "no"
	lean  = "yes"
)

// sets holds the parameter sets by name. Three of them prove 100 bits at the rates 1/2, 1/4 and 1/16, and one is for
// the tables of machines.
var sets = map[string]func(f stark.Field) (stark.Params, error){
	"secure100":  secure100(3),
	"secure128":  func(f stark.Field) (stark.Params, error) { return stark.Secure128(f), nil },
	"compare100": func(f stark.Field) (stark.Params, error) { return stark.Compare100(f), nil },

	mixSet:         func(stark.Field) (stark.Params, error) { return stark.Machine100(), nil },
	"secure100-2":  secure100(1),
	"secure100-4":  secure100(2),
	"secure100-16": secure100(4),
}

var setNames = []string{"secure100", "secure128", "compare100", "secure100-2", "secure100-4", "secure100-16"}

func secure100(logBlowup int) func(f stark.Field) (stark.Params, error) {
	return func(f stark.Field) (stark.Params, error) { return stark.Secure100(f, logBlowup) }
}

// arities are the folding factors of FRI. All sets have ownArity, and cases with it do not have the key.
var (
	arities  = []string{"2", "4", "8", "16", "32"}
	ownArity = arities[stark.Compare100(stark.KoalaBear).LogFold-1]
)

// The axes.
var (
	bytesAxis = workload.IntAxis(workload.Axis{Name: "bytes", Usage: "lengths of messages in bytes", Smoke: "136"}, 0, 1<<20, 1360)
	fieldAxis = workload.NameAxis(workload.Axis{Name: "field", Usage: "prime fields of the STARK"}, []string{string(stark.KoalaBear), string(stark.Goldilocks)}, []string{string(stark.KoalaBear)})
	hashAxis  = workload.NameAxis(workload.Axis{Name: "hash", Usage: "hash functions of the Merkle trees (poseidon needs --field goldilocks)"}, []string{string(stark.Keccak), string(stark.Poseidon)}, []string{string(stark.Keccak)})
	setAxis   = workload.NameAxis(workload.Axis{Name: "set", Usage: "sets of parameters (secure100 proves 100 bits at rate 1/8, secure100-2 at rate 1/2)"}, setNames, []string{"secure100"})
	stackAxis = workload.IntAxis(workload.Axis{Name: "stack", Usage: "numbers of columns that are combined into one polynomial, powers of two", Smoke: "16"}, 1, 1<<8, 16)
	tableAxis = workload.NameAxis(workload.Axis{Name: "table", Usage: "tables to prove (if only one is proved, the states are public)"}, []string{tableBoth, tablePermutations, tableSponges}, nil).Dependent(tableBoth)
	arityAxis = workload.NameAxis(workload.Axis{Name: "arity", Usage: "folding factors of FRI, the number of elements that are folded into one between two Merkle trees"}, arities, nil).Dependent(ownArity)
	zeroAxis  = workload.NameAxis(workload.Axis{Name: "zk", Usage: "zero-knowledge proofs"}, []string{plain, zero}, nil).Dependent(plain)
	leanAxis  = workload.NameAxis(workload.Axis{Name: "lean", Usage: "proofs in less memory, in more time"}, []string{roomy, lean}, nil).Dependent(roomy)
	execAxis  = workload.ExecutorAxis(executor.Names())
	stageAxis = workload.NameAxis(workload.Axis{Name: "stage", Key: record.StageKey, Usage: "stages to measure"}, []string{stageProve, stageVerify}, []string{stageProve, stageVerify})
)

// KeccakStark returns the workload that proves the Keccak-256 of a message by a STARK, or verifies the proof.
func KeccakStark() workload.Def {
	return workload.Def{
		Name: "KeccakStark", Noun: "a STARK of a Keccak-256 digest", Doc: "a STARK for the Keccak-256 digest of a message: permutations and sponge, or one of the two alone; length and digest are public; --zk yes hides the message, which can otherwise be read from the proof",
		Axes:    []workload.Axis{bytesAxis, fieldAxis, hashAxis, setAxis, stackAxis, arityAxis, tableAxis, zeroAxis, leanAxis, execAxis, stageAxis},
		Resolve: resolve,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newInstance(ctx, c, seed)
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			i, err := newInstance(ctx, c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return i.goThrough(ctx, r)
		},
	}
}

// resolve refuses Poseidon trees over fields other than Goldilocks, and removes the keys whose value is the default.
func resolve(c workload.Case) ([]workload.Case, error) {
	if c.Get("hash") == string(stark.Poseidon) && c.Get("field") != string(stark.Goldilocks) {
		return nil, &argument.ValueError{Field: "hash", Value: c.Get("hash"), Accepted: string(stark.Keccak) + " over " + c.Get("field")}
	}
	for key, own := range map[string]string{tableAxis.Key: tableBoth, arityAxis.Key: ownArity, zeroAxis.Key: plain, leanAxis.Key: roomy} {
		switch c.Get(key) {
		case own, workload.Own, workload.All:
			c = c.Without(key)
		}
	}
	return []workload.Case{c}, nil
}

// system has the figures that the systems for both tables, and for each alone, can report.
type system interface {
	Proved(blocks int) (security.Report, error)
	Widths() []int
	Cells(blocks int) int
	Memory(blocks int) (uint64, error)
	LeanMemory(blocks int) (uint64, error)
}

// subject is what an operation proves: it proves one statement, and verifies a proof of it.
type subject struct {
	prove  func(ctx context.Context, options stark.Options) ([]byte, error)
	verify func(proof []byte) error
}

// visibilityOf returns stark.Hidden if the parameters are zero-knowledge, else stark.Exposed.
func visibilityOf(params stark.Params) stark.Visibility {
	if params.ZeroKnowledge {
		return stark.Hidden
	}
	return stark.Exposed
}

// newSystem returns the system for one table or for both, and a function that returns the subject for a message.
func newSystem(table string, config stark.Config, ex executor.Executor) (system, func(message []byte) subject, error) {
	switch table {
	case tablePermutations:
		s, err := keccak.NewPermutationTable(config)
		return s, func(message []byte) subject {
			states := keccak.Permutations([][]byte{message})
			return subject{
				func(ctx context.Context, options stark.Options) ([]byte, error) {
					return s.Prove(ctx, ex, states, nil, options)
				},
				func(proof []byte) error { return s.Verify(proof, states, nil) },
			}
		}, err
	case tableSponges:
		s, err := keccak.NewSpongeTable(config, stark.Exposed)
		return s, func(message []byte) subject {
			messages := [][]byte{message}
			claims, states := keccak.Claims(messages, visibilityOf(config.Params)), keccak.Permutations(messages)
			return subject{
				func(ctx context.Context, options stark.Options) ([]byte, error) {
					return s.Prove(ctx, ex, messages, nil, options)
				},
				func(proof []byte) error { return s.Verify(proof, claims, states, nil) },
			}
		}, err
	}
	s, err := keccak.New(config, visibilityOf(config.Params))
	return s, func(message []byte) subject {
		messages := [][]byte{message}
		claims := keccak.Claims(messages, visibilityOf(config.Params))
		return subject{
			func(ctx context.Context, options stark.Options) ([]byte, error) {
				return s.Prove(ctx, ex, messages, nil, options)
			},
			func(proof []byte) error { return s.Verify(proof, claims, nil) },
		}
	}, err
}

// instance is one case of a workload whose operation makes one proof or verifies one.
type instance struct {
	subject func(seq uint64) subject // the subject of the input with a sequence number
	other   func() subject           // a subject that no input's proof is a proof of
	// figures returns the metrics that are known before proving, and the report with the proved bits.
	figures func() ([]record.Metric, security.Report, error)
	stage   string
	lean    bool
}

// newInstance returns a case of KeccakStark.
func newInstance(ctx context.Context, c workload.Case, seed uint64) (*instance, error) {
	bytes, err := c.Int("bytes")
	if err != nil {
		return nil, err
	}
	stack, err := c.Int("stack")
	if err != nil {
		return nil, err
	}
	field := stark.Field(c.Get("field"))
	params, err := sets[c.Get("set")](field)
	if err != nil {
		return nil, err
	}
	if params.Stack = bits.TrailingZeros(uint(stack)); 1<<params.Stack != stack {
		return nil, &argument.ValueError{Field: "stack", Value: c.Get("stack"), Accepted: "powers of two"}
	}
	if at := slices.Index(arities, c.Get(arityAxis.Key)); at >= 0 {
		params.LogFold = at + 1
	}
	params.ZeroKnowledge = c.Get(zeroAxis.Key) == zero
	ex, err := workload.Executor(ctx, c.Get("exec"))
	if err != nil {
		return nil, err
	}
	config := stark.Config{Field: field, Hash: stark.Hash(c.Get("hash")), Params: params}
	s, about, err := newSystem(c.Get(tableAxis.Key), config, ex)
	if err != nil {
		return nil, err
	}
	random := func(seq uint64, bytes int) subject {
		message := make([]byte, bytes)
		_, _ = workload.Random(seed, seq).Read(message) // which never fails
		return about(message)
	}
	i := &instance{
		subject: func(seq uint64) subject { return random(seq, bytes) },
		other: func() subject { // a message of another length but as many blocks
			if hash.Blocks(bytes+1) == hash.Blocks(bytes) {
				return random(1<<20, bytes+1)
			}
			return random(1<<20, bytes-1)
		},
		figures: func() ([]record.Metric, security.Report, error) { return figures(s, hash.Blocks(bytes)) },
		stage:   c.Get(record.StageKey), lean: c.Get(leanAxis.Key) == lean,
	}
	estimate := s.Memory
	if i.lean {
		estimate = s.LeanMemory
	}
	need, err := estimate(hash.Blocks(bytes))
	if err != nil {
		return nil, err
	}
	return i, fits(ctx, i.stage, need)
}

// figures returns blocks, columns, cells and proved bits of a system that proves digests, and the report with the
// proved bits.
func figures(s system, blocks int) (metrics []record.Metric, proved security.Report, err error) {
	if proved, err = s.Proved(blocks); err != nil {
		return nil, proved, err
	}
	columns := 0
	for _, width := range s.Widths() {
		columns += width
	}
	return []record.Metric{
		record.Blocks.Metric(float64(blocks)), record.Columns.Metric(float64(columns)), record.Cells.Metric(float64(s.Cells(blocks))),
		record.ProvedBits.Metric(float64(proved.Bits())),
	}, proved, nil
}

// fits returns an error if there is not enough memory for proving, which takes need bytes for each proof. In the stage
// prove each worker makes a proof; for the stage verify, proofs are made one at a time.
func fits(ctx context.Context, stage string, need uint64) error {
	workers := uint64(max(1, workload.Workers(ctx)))
	if stage == stageVerify {
		workers = 1
	}
	return memory.Fits("memory for proofs", workers*need)
}

// input is a subject, with its proof if the operation verifies it.
type input struct {
	subject
	proof []byte
}

func (i *instance) options() stark.Options { return stark.Options{Lean: i.lean} }

func (i *instance) Input(ctx context.Context, seq uint64) (any, error) {
	in := &input{subject: i.subject(seq)}
	var err error
	if i.stage == stageVerify {
		in.proof, err = in.prove(ctx, i.options())
	}
	return in, err
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	input := in.(*input)
	if i.stage == stageVerify {
		return nil, input.verify(input.proof)
	}
	return input.prove(ctx, i.options())
}

// Check verifies a new proof. If the operation is a verification, Check makes sure that it rejects another subject.
func (i *instance) Check(_ context.Context, in any, output []byte) error {
	input := in.(*input)
	if i.stage == stageVerify {
		return i.refuses(input.proof)
	}
	return input.verify(output)
}

// refuses returns an error if the proof verifies for the other subject.
func (i *instance) refuses(proof []byte) error {
	if i.other().verify(proof) == nil {
		return fmt.Errorf("%w: the proof verifies for another statement", zkbench.ErrProof)
	}
	return nil
}

func (i *instance) Metrics(ctx context.Context) ([]record.Metric, error) {
	metrics, _, err := i.figures()
	if err != nil {
		return nil, err
	}
	proof, err := i.subject(0).prove(ctx, i.options())
	if err != nil {
		return nil, err
	}
	return append(metrics, record.ProofSize.Metric(float64(len(proof)))), nil
}

func (i *instance) Close() error { return nil }

// goThrough proves and verifies once, and records each phase of proving as a stage.
func (i *instance) goThrough(ctx context.Context, r *stage.Recorder) (out workload.Staged, err error) {
	metrics, proved, err := i.figures()
	if err != nil {
		return out, err
	}
	about := i.subject(0)
	runtime.GC() // so that a stage's peak memory is its own
	whole := r.Start(stageProve)
	options := i.options()
	options.Span = func(name string) func() {
		running := r.Start(stageProve + "/" + name)
		return func() { running.End() }
	}
	proof, err := about.prove(ctx, options)
	if err != nil {
		return out, err
	}
	size := record.ProofSize.Metric(float64(len(proof)))
	out.Metrics = append(metrics, size)
	whole.End(out.Metrics...)
	verifying := r.Start(stageVerify)
	if err := about.verify(proof); err != nil {
		return out, err
	}
	verifying.End()
	out.Findings = []record.Finding{{Name: "proved bits", Text: fmt.Sprintf("%d, by %v; the round with the largest error is: %s", proved.Bits(), proved.Regime, proved.Least().Name)}}
	return out, i.refuses(proof)
}
