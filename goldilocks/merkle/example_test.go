package merkle_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
)

// A verifier that knows a tree's root and shape checks one of its rows.
func Example() {
	shape := merkle.Shape{Rows: 3, Width: 2}
	rows := []goldilocks.Element{1, 2, 3, 4, 5, 6}
	tree, err := merkle.Build(context.Background(), executor.Pool(), shape, rows)
	if err != nil {
		log.Fatal(err)
	}
	path, err := tree.Path(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(merkle.Verify(tree.Root(), shape, 1, []goldilocks.Element{3, 4}, path))
	fmt.Println(merkle.Verify(tree.Root(), shape, 1, []goldilocks.Element{3, 5}, path))
	// Output:
	// <nil>
	// proof rejected: path: it does not lead from the row to the root
}

// BuildFile builds a tree that is larger than memory from a reader into a file.
func ExampleBuildFile() {
	folder, err := os.MkdirTemp("", "tree")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	var rows bytes.Buffer
	for i := range 6 {
		b := goldilocks.Element(i + 1).Bytes()
		rows.Write(b[:])
	}
	shape := merkle.Shape{Rows: 3, Width: 2}
	file, err := merkle.BuildFile(context.Background(), executor.Pool(), shape, &rows, filepath.Join(folder, "tree"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	root, err := file.Root()
	if err != nil {
		log.Fatal(err)
	}
	path, err := file.Path(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(merkle.Verify(root, shape, 1, []goldilocks.Element{3, 4}, path))
	// Output: <nil>
}
