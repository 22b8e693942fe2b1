// Package selfcheck defines a workload of known cost. The command "zkbench selfcheck"
// plants changes in this cost, and shows that comparisons find these changes and
// nothing else. The workload is not a benchmark, and "zkbench list" does not show it.
package selfcheck

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// AxisKey is the key of the axis that sets the amount of work, in thousandths of the
// default amount.
const AxisKey = "work"

// rounds is the number of hashes in an operation with work=1000. It is a multiple of
// 1000, so that each thousandth is a whole number of hashes.
const rounds = 1000

// Def returns the workload SelfCheck, which applies SHA-512 to its own output again and
// again.
func Def() workload.Def {
	axis := workload.IntAxis(workload.Axis{Name: AxisKey, Usage: "amounts of work, in thousandths of the default", Smoke: "1000"}, 1, 10_000, 1000)
	return workload.Def{
		Name: "SelfCheck",
		Doc:  "hash a block repeatedly; the axis work sets how often",
		Axes: []workload.Axis{axis},
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			work, err := axis.Int(c)
			return instance{hashes: rounds * work / 1000, seed: seed}, err
		},
	}
}

type instance struct {
	hashes int
	seed   uint64
}

func (i instance) Input(_ context.Context, seq uint64) (any, error) {
	var block [sha512.Size]byte
	binary.LittleEndian.PutUint64(block[:], i.seed)
	binary.LittleEndian.PutUint64(block[8:], seq)
	return block, nil
}

func (i instance) Run(_ context.Context, input any) ([]byte, error) {
	block, ok := input.([sha512.Size]byte)
	if !ok {
		return nil, errors.New("the input is not a block")
	}
	for range i.hashes {
		block = sha512.Sum512(block[:])
	}
	return block[:], nil
}

// Check computes the result a second time, in another way.
func (i instance) Check(_ context.Context, input any, output []byte) error {
	block, ok := input.([sha512.Size]byte)
	if !ok {
		return errors.New("the input is not a block")
	}
	h := sha512.New()
	for range i.hashes {
		h.Reset()
		h.Write(block[:])
		h.Sum(block[:0])
	}
	if !bytes.Equal(output, block[:]) {
		return errors.New("not the hash of the input")
	}
	return nil
}

func (i instance) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.HashSize.Metric(sha512.Size)}, nil
}

func (i instance) Close() error { return nil }
