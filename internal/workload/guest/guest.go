// Package guest defines the workloads of RISC-V programs. Guest executes a program of this module, the guest, and counts its
// instructions; nothing is proved. GuestProve proves runs of programs without an operating system.
package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def { return []workload.Def{Guest(), GuestProve()} }

// The axes.
var (
	guestAxis      = workload.NameAxis(workload.Axis{Name: "guest", Usage: "guest programs"}, Names(), Names()[:2])
	precompileAxis = workload.NameAxis(workload.Axis{Name: "precompile", Usage: "sets of precompiles"}, sets(), nil).Dependent("all sets that the guest supports")
	sizeAxis       = workload.IntAxis(workload.Axis{Name: "size", Usage: "sizes of the input (bytes for keccak, hashes for pedersen, leaves for merkle, bits for bulletproof, rows for plonk; 1 for pairing and pairing-bigint)"}, 0, 1<<20).Dependent("the guest's default size")
)

// Guest returns the workload that executes a guest and counts its instructions.
func Guest() workload.Def {
	return workload.Def{
		Name: "Guest", Noun: "executing a RISC-V program", Doc: "execute a RISC-V program, with or without precompiles, and count its instructions; nothing is proved",
		Axes:    []workload.Axis{guestAxis, precompileAxis, sizeAxis},
		Resolve: resolve, Guests: "./internal/workload/guest/build", Memory: estimate,
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			return newInstance(ctx, c, seed)
		},
	}
}

// Names returns the names of the guests.
func Names() (all []string) {
	for _, s := range subjects {
		all = append(all, s.name)
	}
	return all
}

// Builds returns the programs that the cases of Guest need: each guest without precompiles and, if it supports them,
// with precompiles.
func Builds() (all []guestprogram.Guest) {
	for _, s := range subjects {
		for _, set := range s.precompiles {
			all = append(all, s.guest(set != none))
		}
	}
	return all
}

func sets() (all []string) {
	for _, s := range subjects {
		for _, p := range s.precompiles {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// resolve gives a guest its default precompiles and size if the case names none, and refuses values that the guest
// does not support.
func resolve(c workload.Case) ([]workload.Case, error) {
	s := subjectOf(c)
	var cases []workload.Case
	of := s.precompiles
	switch p := c.Get(precompileAxis.Key); {
	case p == workload.Own:
		of = of[:1]
	case p != workload.All && !slices.Contains(of, p):
		return nil, &argument.ValueError{Field: precompileAxis.Key, Value: p, Accepted: "of " + s.name + ": " + strings.Join(of, ", ")}
	case p != workload.All:
		of = []string{p}
	}
	size := c.Get(sizeAxis.Key)
	if size == workload.Own || size == workload.All {
		size = fmt.Sprint(s.size)
	}
	sized := c.With(sizeAxis.Key, size)
	n, err := sized.Int(sizeAxis.Key)
	if err != nil {
		return nil, err
	}
	if err := s.accepts(n); err != nil {
		return nil, err
	}
	for _, p := range of {
		cases = append(cases, sized.With(precompileAxis.Key, p))
	}
	return cases, nil
}

// accepts returns an error if the guest has no inputs of this size.
func (s *subject) accepts(size int) error {
	if size < s.least || size > s.most {
		return &argument.ValueError{Field: sizeAxis.Key, Value: fmt.Sprint(size), Accepted: fmt.Sprintf("of %s: %d to %d", s.name, s.least, s.most)}
	}
	return nil
}

// guestBytes is the maximum memory that a guest uses, for all sizes.
const guestBytes = 64 << 20

// estimate returns the memory of a case. Only the set-up that makes inputs grows with the size: keys, for plonk.
func estimate(c workload.Case) (workload.Memory, error) {
	n, err := c.Int(sizeAxis.Key)
	if err != nil {
		return workload.Memory{}, err
	}
	return workload.Memory{Base: uint64(n) * subjectOf(c).keyBytes, Input: uint64(n), Operation: guestBytes}, nil
}

func subjectOf(c workload.Case) *subject {
	i := slices.IndexFunc(subjects, func(s *subject) bool { return s.name == c.Get(guestAxis.Key) })
	return subjects[max(i, 0)]
}

// instance is a loaded guest and the maker of its inputs.
type instance struct {
	*subject
	program     *riscv.Program
	precompiles []riscv.Precompile
	inputs      maker
	seed        uint64
}

func newInstance(ctx context.Context, c workload.Case, seed uint64) (*instance, error) {
	s := subjectOf(c)
	size, err := c.Int(sizeAxis.Key)
	if err != nil {
		return nil, err
	}
	set := c.Get(precompileAxis.Key)
	i := &instance{subject: s, precompiles: precompile.Sets()[set], seed: seed}
	if i.program, err = guestprogram.Find(ctx, s.guest(set != none)); err != nil {
		return nil, err
	}
	i.inputs, err = s.inputs(ctx, size)
	return i, err
}

// input holds a guest's input and the output that is correct for it.
type input struct{ raw, want []byte }

func (i *instance) Input(ctx context.Context, seq uint64) (any, error) {
	raw, want, err := i.inputs(ctx, workload.Random(i.seed, seq))
	return input{raw, want}, err
}

// options returns the options of a run without garbage collection, because the cost of a collection depends on
// everything that was allocated before.
func (i *instance) options(in input) riscv.Options {
	return riscv.Options{Input: in.raw, Env: []string{"GOGC=off"}, Precompiles: i.precompiles}
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	r, err := riscv.Run(ctx, i.program, i.options(in.(input)))
	return r.Output, err
}

func (i *instance) Check(_ context.Context, in any, output []byte) error {
	if !bytes.Equal(output, in.(input).want) {
		return fmt.Errorf("%w: the guest's output differs from what this program computes", zkbench.ErrProof)
	}
	return nil
}

// Metrics executes the guest with the first input and returns its counts.
func (i *instance) Metrics(ctx context.Context) ([]record.Metric, error) {
	in, err := i.Input(ctx, 0)
	if err != nil {
		return nil, err
	}
	r, err := riscv.Run(ctx, i.program, i.options(in.(input)))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(r.Sections, func(s riscv.Section) bool { return s.Name == i.work })
	if at < 0 {
		return nil, errors.New("guest: the program does not mark its work as a section")
	}
	work := r.Sections[at].Tally
	metrics := []record.Metric{record.GuestCycles.Metric(float64(r.Cycles)), record.WorkCycles.Metric(float64(work.Cycles))}
	for class, n := range work.Classes {
		metrics = append(metrics, record.WorkClass(riscv.Class(class).String()).Metric(float64(n)))
	}
	for _, p := range work.Precompiles {
		metrics = append(metrics, record.PrecompileCalls(p.Name).Metric(float64(p.Calls)))
	}
	return append(metrics, record.GuestPages.Metric(float64(r.Pages)), record.GuestTouches.Metric(float64(r.Touches))), nil
}

func (i *instance) Close() error { return nil }
