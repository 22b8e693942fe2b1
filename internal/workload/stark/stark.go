// Package stark defines the workloads of STARKs.
package stark

import (
	"context"
	"fmt"
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

// Defs returns the workloads.
func Defs() []workload.Def { return []workload.Def{KeccakStark(), KeccakAggregate()} }

// The stages that an operation is.
const (
	stageProve  = "prove"
	stageVerify = "verify"
)

// The tables that a proof is of. Cases of both, the default, have no such key: they keep the names
// that they had before there was a choice.
const (
	tableBoth         = "both"
	tablePermutations = "permutations"
	tableSponges      = "sponges"
)

// Whether proofs are zero-knowledge.
const (
	plain = "no"
	zero  = "yes"
)

// sets are the parameters, by name: those that promise bits at rates 1/2 to 1/16 too.
var sets = map[string]func(f stark.Field) (stark.Params, error){
	"secure100":  secure100(3),
	"secure128":  func(f stark.Field) (stark.Params, error) { return stark.Secure128(f), nil },
	"compare100": func(f stark.Field) (stark.Params, error) { return stark.Compare100(f), nil },

	"secure100-2":  secure100(1),
	"secure100-4":  secure100(2),
	"secure100-16": secure100(4),
}

var setNames = []string{"secure100", "secure128", "compare100", "secure100-2", "secure100-4", "secure100-16"}

func secure100(logBlowup int) func(f stark.Field) (stark.Params, error) {
	return func(f stark.Field) (stark.Params, error) { return stark.Secure100(f, logBlowup) }
}

// arities are those of FRI; all sets have ownArity, and cases of it no such key.
var (
	arities  = []string{"2", "4", "8", "16", "32"}
	ownArity = arities[stark.Compare100(stark.KoalaBear).LogFold-1]
)

// The axes.
var (
	bytesAxis = workload.IntAxis(workload.Axis{Name: "bytes", Usage: "bytes of the message", Smoke: "136"}, 0, 1<<20, 1360)
	fieldAxis = workload.NameAxis(workload.Axis{Name: "field", Usage: "fields"}, []string{string(stark.KoalaBear), string(stark.Goldilocks)}, []string{string(stark.KoalaBear)})
	hashAxis  = workload.NameAxis(workload.Axis{Name: "hash", Usage: "hashes of trees; poseidon is over goldilocks"}, []string{string(stark.Keccak), string(stark.Poseidon)}, []string{string(stark.Keccak)})
	setAxis   = workload.NameAxis(workload.Axis{Name: "set", Usage: "sets of parameters; secure100 is at rate 1/8, secure100-2 at 1/2"}, setNames, []string{"secure100"})
	stackAxis = workload.IntAxis(workload.Axis{Name: "stack", Usage: "columns that are one polynomial: powers of two", Smoke: "16"}, 1, 1<<8, 16)
	tableAxis = workload.NameAxis(workload.Axis{Name: "table", Usage: "tables that are proved; with one alone the states are public"}, []string{tableBoth, tablePermutations, tableSponges}, nil).Dependent(tableBoth)
	arityAxis = workload.NameAxis(workload.Axis{Name: "arity", Usage: "elements that FRI folds into one between two trees"}, arities, nil).Dependent(ownArity)
	zeroAxis  = workload.NameAxis(workload.Axis{Name: "zk", Usage: "proofs in zero knowledge"}, []string{plain, zero}, nil).Dependent(plain)
	execAxis  = workload.ExecutorAxis(executor.Names())
)

// KeccakStark is a proof of a message's Keccak-256.
func KeccakStark() workload.Def {
	stages := workload.NameAxis(workload.Axis{Name: "stage", Key: record.StageKey, Usage: "stages that an operation is"}, []string{stageProve, stageVerify}, []string{stageProve, stageVerify})
	return workload.Def{
		Name: "KeccakStark", Doc: "a STARK of a message with a Keccak-256 digest: its permutations and its sponge, or one of the two alone; length and digest are public; the message is hidden with --zk yes, and otherwise can be read from the proof",
		Axes:    []workload.Axis{bytesAxis, fieldAxis, hashAxis, setAxis, stackAxis, arityAxis, tableAxis, zeroAxis, execAxis, stages},
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

// resolve refuses trees of Poseidon over another field, and takes the keys of defaults away.
func resolve(c workload.Case) ([]workload.Case, error) {
	if c.Get("hash") == string(stark.Poseidon) && c.Get("field") != string(stark.Goldilocks) {
		return nil, &argument.ValueError{Field: "hash", Value: c.Get("hash"), Accepted: string(stark.Keccak) + " over " + c.Get("field")}
	}
	for key, own := range map[string]string{tableAxis.Key: tableBoth, arityAxis.Key: ownArity, zeroAxis.Key: plain} {
		switch c.Get(key) {
		case own, workload.Own, workload.All:
			c = c.Without(key)
		}
	}
	return []workload.Case{c}, nil
}

// system is what the systems of both tables, and of each alone, tell of themselves.
type system interface {
	Proved(blocks int) (security.Report, error)
	Widths() []int
	Cells(blocks int) int
	Memory(blocks int) (uint64, error)
}

// subject is what is proved of a message, and how it is verified.
type subject struct {
	prove  func(ctx context.Context, options stark.Options) ([]byte, error)
	verify func(proof []byte) error
}

// messagesAre is what parameters make of messages.
func messagesAre(params stark.Params) stark.Visibility {
	if params.ZeroKnowledge {
		return stark.Hidden
	}
	return stark.Exposed
}

// newSystem returns the system of a table, or of both, and what it proves of a message.
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
			claims, states := keccak.Claims(messages, messagesAre(config.Params)), keccak.Permutations(messages)
			return subject{
				func(ctx context.Context, options stark.Options) ([]byte, error) {
					return s.Prove(ctx, ex, messages, nil, options)
				},
				func(proof []byte) error { return s.Verify(proof, claims, states, nil) },
			}
		}, err
	}
	s, err := keccak.New(config, messagesAre(config.Params))
	return s, func(message []byte) subject {
		messages := [][]byte{message}
		claims := keccak.Claims(messages, messagesAre(config.Params))
		return subject{
			func(ctx context.Context, options stark.Options) ([]byte, error) {
				return s.Prove(ctx, ex, messages, nil, options)
			},
			func(proof []byte) error { return s.Verify(proof, claims, nil) },
		}
	}, err
}

// instance is a system and the message's length.
type instance struct {
	system system
	about  func(message []byte) subject
	bytes  int
	seed   uint64
	stage  string
}

func newInstance(ctx context.Context, c workload.Case, seed uint64) (*instance, error) {
	i := &instance{seed: seed, stage: c.Get(record.StageKey)}
	var err error
	if i.bytes, err = c.Int("bytes"); err != nil {
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
	for params.Stack = 0; 1<<params.Stack < stack; params.Stack++ {
	}
	if at := slices.Index(arities, c.Get(arityAxis.Key)); at >= 0 {
		params.LogFold = at + 1
	}
	params.ZeroKnowledge = c.Get(zeroAxis.Key) == zero
	if 1<<params.Stack != stack {
		return nil, &argument.ValueError{Field: "stack", Value: c.Get("stack"), Accepted: "powers of two"}
	}
	ex, err := executor.ByName(c.Get("exec"))
	if err != nil {
		return nil, err
	}
	config := stark.Config{Field: field, Hash: stark.Hash(c.Get("hash")), Params: params}
	if i.system, i.about, err = newSystem(c.Get(tableAxis.Key), config, ex); err != nil {
		return nil, err
	}
	need, err := i.system.Memory(hash.Blocks(i.bytes))
	if err != nil {
		return nil, err
	}
	return i, fits(ctx, i.stage, need)
}

// fits refuses proofs of so many bytes each for which there is no memory: one for each worker that proves, and one
// at a time where what is verified is made.
func fits(ctx context.Context, stage string, need uint64) error {
	workers := uint64(max(1, workload.Workers(ctx)))
	if stage == stageVerify {
		workers = 1
	}
	return memory.Fits("memory for proofs", workers*need)
}

// input is what is proved, with a proof where that is verified.
type input struct {
	subject
	proof []byte
}

// random is what is proved of a message of so many bytes.
func (i *instance) random(seq uint64, bytes int) subject {
	message := make([]byte, bytes)
	_, _ = workload.Random(i.seed, seq).Read(message) // which never fails
	return i.about(message)
}

func (i *instance) Input(ctx context.Context, seq uint64) (any, error) {
	in := &input{subject: i.random(seq, i.bytes)}
	var err error
	if i.stage == stageVerify {
		in.proof, err = in.prove(ctx, stark.Options{})
	}
	return in, err
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	input := in.(*input)
	if i.stage == stageVerify {
		return nil, input.verify(input.proof)
	}
	return input.prove(ctx, stark.Options{})
}

// Check makes sure that a proof holds, and that what was timed can say no.
func (i *instance) Check(_ context.Context, in any, output []byte) error {
	input := in.(*input)
	if i.stage == stageVerify {
		return i.refuses(input.proof)
	}
	return input.verify(output)
}

// refuses sees to it that a proof does not verify for another message, of another length and as many blocks.
func (i *instance) refuses(proof []byte) error {
	bytes := i.bytes + 1
	if hash.Blocks(bytes) != hash.Blocks(i.bytes) {
		bytes = i.bytes - 1
	}
	if i.random(1<<20, bytes).verify(proof) == nil {
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
	columns := 0
	for _, width := range i.system.Widths() {
		columns += width
	}
	return []record.Metric{
		record.Blocks.Metric(float64(blocks)), record.Columns.Metric(float64(columns)), record.Cells.Metric(float64(i.system.Cells(blocks))),
		record.ProvedBits.Metric(float64(proved.Bits())),
	}, proved, nil
}

func (i *instance) Metrics(ctx context.Context) ([]record.Metric, error) {
	metrics, _, err := i.figures()
	if err != nil {
		return nil, err
	}
	proof, err := i.random(0, i.bytes).prove(ctx, stark.Options{})
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
	about := i.random(0, i.bytes)
	runtime.GC() // so that a stage's greatest memory is its own
	whole := r.Start(stageProve)
	proof, err := about.prove(ctx, stark.Options{Span: func(name string) func() {
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
	if err := about.verify(proof); err != nil {
		return out, err
	}
	verifying.End()
	out.Findings = []record.Finding{{Name: "proved bits", Text: fmt.Sprintf("%d, by %v; the round of the greatest error: %s", proved.Bits(), proved.Regime, proved.Least().Name)}}
	return out, i.refuses(proof)
}
