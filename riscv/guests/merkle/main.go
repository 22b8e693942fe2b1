// Command merkle is a guest that builds a Merkle tree with Poseidon. Its output is the tree's root.
// Each leaf is a row of eight Goldilocks elements. The input is the elements, eight little-endian
// bytes each.
package main

import (
	"context"
	"encoding/binary"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/riscv/guest"
)

const width = 8 // elements per row

func main() {
	input := guest.Input()
	elements := make([]goldilocks.Element, len(input)/8)
	for i := range elements {
		elements[i] = goldilocks.Reduce(binary.LittleEndian.Uint64(input[8*i:]))
	}
	guest.Begin("root")
	tree, err := merkle.Build(context.Background(), executor.Serial(), merkle.Shape{Rows: len(elements) / width, Width: width}, elements)
	if err != nil {
		panic(err)
	}
	root := tree.Root()
	guest.End()
	var raw []byte
	for _, e := range root {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(e))
	}
	guest.Commit(raw)
}
