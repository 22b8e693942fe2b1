// Command guest does a little of everything that a Go program does: goroutines, maps, strings, floating
// point, sleeping, garbage collections. Its argument says how much; -1 uses a nil pointer.
package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/zkbench/zkbench/riscv/guest"
)

type node struct {
	left, right *node
	value       float64
}

func tree(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{tree(depth - 1), tree(depth - 1), math.Sqrt(float64(depth))}
}

func (n *node) sum() float64 {
	if n == nil {
		return 0
	}
	return n.left.sum() + n.right.sum() + n.value
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if n < 0 {
		var p *node
		fmt.Println(p.value)
	}
	for range 2 {
		guest.Begin("outer")
		tree(6).sum()
		guest.Begin("inner")
		tree(5).sum()
		guest.End()
		guest.End()
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	words := make(map[string]int)
	for _, b := range input {
		words[string(b)]++
	}
	var keys []string
	for k := range words {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Printf("%s=%d ", k, words[k])
	}
	var wg sync.WaitGroup
	sums := make([]float64, n) // added in an order that does not depend on the scheduler
	for i := range n {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			sums[i] = tree(10 + i%3).sum()
		})
	}
	wg.Wait()
	total := 0.0
	for _, s := range sums {
		total += s
	}
	runtime.GC()
	fmt.Printf("%.9f %g %v\n", total, math.FMA(1.1, 2.2, -total), float32(total)/3)
}
