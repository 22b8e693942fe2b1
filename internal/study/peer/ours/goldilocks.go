// Package ours contains this project's peer programs, which the command "zkbench peers" compares with those of other
// projects. Our programs do the same work as those of the other projects, in cases with the same names.
package ours

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/study/peer"
)

// goldilocksPrefix is the prefix of the names of peers for a Goldilocks kernel.
const goldilocksPrefix = "goldilocks-"

// GoldilocksNames returns the names of our peers that compute over the Goldilocks field. There is one for each kernel
// (implementation of the arithmetic) that this machine can run. The peer with the fastest kernel is last.
func GoldilocksNames() (names []string) {
	for _, k := range goldilocks.Kernels() {
		names = append(names, goldilocksPrefix+k.String())
	}
	return names
}

// Sizes that all peers over the Goldilocks field use; see peers/rust/goldilocks.
const (
	peerStates  = 1024
	peerWidth   = 8
	peerBlowup  = 2
	peerColumns = 8
)

// Goldilocks returns the cases of the peer with the given name, which must be one of GoldilocksNames. The cases run on
// one goroutine. Goldilocks returns an error if this machine cannot run the peer's kernel.
func Goldilocks(name string) ([]peer.Case, error) {
	k, err := goldilocks.KernelNamed(strings.TrimPrefix(name, goldilocksPrefix))
	if err != nil {
		return nil, err
	}
	var cases []peer.Case
	add := func(name string, perCall, n int, operation func(k goldilocks.Kernel, n int) (func() error, error)) {
		cases = append(cases, peer.Case{Name: name, PerCall: perCall, Setup: func() (func() error, map[string]float64, error) {
			run, err := operation(k, n)
			return run, nil, err
		}})
	}
	add(fmt.Sprintf("PoseidonPermutation/states=%d", peerStates), peerStates, peerStates, permute)
	for log := 10; log <= 20; log += 2 {
		n := 1 << log
		add(fmt.Sprintf("MerkleBuild/leaves=%d/width=%d", n, peerWidth), 0, n, buildTree)
		add(fmt.Sprintf("NTT/n=%d/columns=1", n), 0, n, transform)
		add(fmt.Sprintf("LDE/n=%d/columns=%d/blowup=%d/order=bitrev", n, peerColumns, peerBlowup), 0, n, extend)
	}
	return cases, nil
}

// peerElements returns n elements: the leaves of the published trees.
func peerElements(n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(0x9E3779B97F4A7C15 * uint64(i+1))
	}
	return all
}

func permute(k goldilocks.Kernel, n int) (func() error, error) {
	flat := peerElements(n * poseidon.Width)
	states, want := make([]poseidon.State, n), make([]poseidon.State, n)
	for i := range states {
		states[i] = poseidon.State(flat[i*poseidon.Width:])
		want[i] = states[i]
		want[i].Permute()
	}
	poseidon.PermuteAll(states, k)
	if !slices.Equal(states, want) {
		return nil, errors.New("permutations differ from those of one state at a time")
	}
	return func() error { poseidon.PermuteAll(states, k); return nil }, nil
}

func buildTree(k goldilocks.Kernel, leaves int) (func() error, error) {
	shape := merkle.Shape{Rows: leaves, Width: peerWidth}
	rows := peerElements(leaves * peerWidth)
	build := func(ex executor.Executor, k goldilocks.Kernel) (poseidon.Digest, error) {
		tree, err := merkle.Build(context.Background(), ex, shape, rows, k)
		if err != nil {
			return poseidon.Digest{}, err
		}
		return tree.Top(), nil
	}
	want, err := build(executor.Pool(), goldilocks.Portable())
	if err != nil {
		return nil, err
	}
	return func() error {
		top, err := build(executor.Serial(), k)
		if err == nil && top != want {
			err = errors.New("a tree's top differs from the portable kernel's")
		}
		return err
	}, nil
}

// transform returns a transform with coefficients and values in natural order.
func transform(k goldilocks.Kernel, n int) (func() error, error) {
	d, err := goldilocks.NewDomain(n)
	if err != nil {
		return nil, err
	}
	inOrder := func(k goldilocks.Kernel, values []goldilocks.Element) error {
		return errors.Join(d.NTT(values, goldilocks.Natural, 1, k), goldilocks.BitReverse(values))
	}
	values := peerElements(n)
	want := slices.Clone(values)
	if err := errors.Join(inOrder(k, values), inOrder(goldilocks.Portable(), want)); err != nil {
		return nil, err
	}
	if !slices.Equal(values, want) {
		return nil, errors.New("a transform differs from the portable kernel's")
	}
	return func() error { return inOrder(k, values) }, nil
}

func extend(k goldilocks.Kernel, n int) (func() error, error) {
	d, err := goldilocks.NewDomain(n)
	if err != nil {
		return nil, err
	}
	lde := goldilocks.LDE{Blowup: peerBlowup, Shift: goldilocks.Generator, In: goldilocks.Natural, Out: goldilocks.BitReversed}
	fresh := func() [][]goldilocks.Element {
		columns := make([][]goldilocks.Element, peerColumns)
		for i := range columns {
			columns[i] = append(peerElements(n), make([]goldilocks.Element, (peerBlowup-1)*n)...)
		}
		return columns
	}
	columns, want := fresh(), fresh()[:1]
	ctx, ex := context.Background(), executor.Serial()
	if err := errors.Join(d.Extend(ctx, ex, columns, lde, k), d.Extend(ctx, ex, want, lde, goldilocks.Portable())); err != nil {
		return nil, err
	}
	if !slices.Equal(columns[0], want[0]) {
		return nil, errors.New("an extension differs from the portable kernel's")
	}
	return func() error { return d.Extend(ctx, ex, columns, lde, k) }, nil
}
