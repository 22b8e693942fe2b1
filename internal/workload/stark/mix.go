package stark

import (
	"context"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/security"
)

// mixSet is the set of parameters that cases of StarkMix have by default.
const mixSet = "machine100"

// The axes of StarkMix, besides those that it shares with KeccakStark.
var (
	mixStacks    = []string{"1", "2", "4", "8", "16", "32"}
	logAxis      = workload.IntAxis(workload.Axis{Name: "log", Usage: "base-2 logarithms of the number of cycles", Smoke: "12"}, 12, 22, 16, 18)
	mixHashAxis  = workload.NameAxis(workload.Axis{Name: "hash", Usage: "hash functions of the Merkle trees"}, []string{string(stark.Keccak), string(stark.Poseidon)}, []string{string(stark.Keccak)})
	mixSetAxis   = workload.NameAxis(workload.Axis{Name: "set", Usage: "sets of parameters"}, append([]string{mixSet}, setNames...), []string{mixSet})
	mixStackAxis = workload.NameAxis(workload.Axis{Name: "stack", Usage: "numbers of columns of the highest table that are combined into one polynomial"}, mixStacks, nil).Dependent("those of the set")
)

// StarkMix returns the workload that proves tables in the shape of a machine's, or verifies the proof.
func StarkMix() workload.Def {
	return workload.Def{
		Name: "StarkMix", Noun: "a STARK of a machine's tables", Doc: "a STARK of eleven tables in the shape of those of a machine that runs RISC-V, over Goldilocks: 20 to 110 columns, and 34 messages and 64 cells of traces for each cycle; what the rows say is made up, and all of it is proved",
		Axes:    []workload.Axis{logAxis, mixHashAxis, mixSetAxis, mixStackAxis, leanAxis, execAxis, stageAxis},
		Resolve: resolveMix,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newMix(ctx, c, seed)
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			i, err := newMix(ctx, c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return i.goThrough(ctx, r)
		},
	}
}

// resolveMix removes the keys whose value is the default.
func resolveMix(c workload.Case) ([]workload.Case, error) {
	params, err := sets[c.Get(mixSetAxis.Key)](stark.Goldilocks)
	if err != nil {
		return nil, err
	}
	for key, own := range map[string]string{mixStackAxis.Key: mixStacks[params.Stack], leanAxis.Key: roomy} {
		switch c.Get(key) {
		case own, workload.Own, workload.All:
			c = c.Without(key)
		}
	}
	return []workload.Case{c}, nil
}

// newMix returns a case of StarkMix.
func newMix(ctx context.Context, c workload.Case, seed uint64) (*instance, error) {
	log, err := logAxis.Int(c)
	if err != nil {
		return nil, err
	}
	params, err := sets[c.Get(mixSetAxis.Key)](stark.Goldilocks)
	if err != nil {
		return nil, err
	}
	if at := slices.Index(mixStacks, c.Get(mixStackAxis.Key)); at >= 0 {
		params.Stack = at
	}
	ex, err := workload.Executor(ctx, c.Get(record.ExecutorKey))
	if err != nil {
		return nil, err
	}
	system, err := stark.NewOn(ctx, ex, stark.Config{Field: stark.Goldilocks, Hash: stark.Hash(c.Get(mixHashAxis.Key)), Params: params}, mixTables()...)
	if err != nil {
		return nil, err
	}
	about := func(seq uint64, ofAnother bool) subject {
		run := newMixRun(log, workload.Random(seed, seq).Uint64())
		statement := run.statement()
		if ofAnother {
			statement.Publics[0]++
		}
		return subject{
			func(ctx context.Context, options stark.Options) ([]byte, error) {
				return system.Prove(ctx, ex, run.traces(), statement, options)
			},
			func(proof []byte) error { return system.Verify(proof, statement) },
		}
	}
	i := &instance{
		subject: func(seq uint64) subject { return about(seq, false) },
		other:   func() subject { return about(0, true) },
		figures: func() ([]record.Metric, security.Report, error) { return mixFigures(system, log) },
		stage:   c.Get(record.StageKey), lean: c.Get(leanAxis.Key) == lean,
	}
	estimate := system.Memory
	if i.lean {
		estimate = system.LeanMemory
	}
	need, err := estimate(mixForm(log))
	if err != nil {
		return nil, err
	}
	return i, fits(ctx, i.stage, need)
}

// mixFigures returns columns, cells and proved bits for a number of cycles, and the report with the proved bits.
func mixFigures(s *stark.System, log int) (metrics []record.Metric, proved security.Report, err error) {
	p, err := s.Security(mixForm(log), len(newMixRun(log, 0).statement().Messages))
	if err != nil {
		return nil, proved, err
	}
	if proved, err = p.Best(); err != nil {
		return nil, proved, err
	}
	columns, cells := 0, 0
	for _, f := range mix {
		columns += f.columns()
		cells += f.columns() << (log - f.rare)
	}
	return []record.Metric{
		record.Columns.Metric(float64(columns)), record.Cells.Metric(float64(cells)), record.ProvedBits.Metric(float64(proved.Bits())),
	}, proved, nil
}
