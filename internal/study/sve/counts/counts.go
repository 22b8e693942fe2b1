// Package counts contains the numbers of instructions of the kernels of package goldilocks. Some were counted in the
// text of the assembly, others by an emulator of arm64 that executed it.
package counts

import (
	"embed"
	"encoding/csv"
	"strconv"
)

//go:embed *.csv
var files embed.FS

// Function has the numbers of instructions in one pass through the loop of a vector function.
type Function struct {
	Kernel    string // name of a goldilocks.Kernel, except portable
	Name      string // the function's name in the kernel; Symbol returns it for the study's functions
	Registers int    // registers of results that a pass computes; for dot, registers of operands that it reads
	// Numbers of instructions. Compute counts those on vectors, also if an operand is in memory. Memory counts plain
	// loads and stores. Control counts those for counters, addresses and branches.
	Compute, Memory, Control int
}

// Static returns the counts of all functions of all kernels, from the text of the assembly.
func Static() (all []Function) {
	for _, r := range read("instructions.csv", 6) {
		all = append(all, Function{
			Kernel: r[0], Name: r[1],
			Registers: integer(r[2]), Compute: integer(r[3]), Memory: integer(r[4]), Control: integer(r[5]),
		})
	}
	return all
}

// StaticOf returns the counts of the loop with which the given kernel computes the given function, from the text of the
// assembly. The parameter function is one of the names of functions in package internal/workload/sve. StaticOf returns
// nil if the kernel does not have the function.
func StaticOf(kernel, function string) *Function {
	for _, f := range Static() {
		if f.Kernel == kernel && f.Name == Symbol(function) {
			return &f
		}
	}
	return nil
}

// Permutation has the number of instructions that a kernel of arm64 executes for a permutation of Poseidon.
type Permutation struct {
	Kernel       string
	Bits         int     // width of the vectors
	Instructions float64 // per permutation, when many are computed together
}

// Executed returns the numbers of instructions for permutations of Poseidon, counted by an emulator. They are sorted by
// kernel and then by the width of the vectors.
func Executed() (all []Permutation) {
	for _, r := range read("permutation.csv", 3) {
		all = append(all, Permutation{r[0], integer(r[1]), number(r[2])})
	}
	return all
}

// Unit has the number of instructions that a kernel of arm64 executes for one unit of a function's work. The unit is
// one field element or one Poseidon state, depending on the function.
type Unit struct {
	Kernel       string
	Bits         int     // width of the vectors
	Function     string  // a name of package internal/workload/sve
	Instructions float64 // per unit, when many are computed together
}

// ExecutedUnits returns the numbers of instructions for units of functions' work, counted by an emulator. They are
// sorted by kernel, width of the vectors and function.
func ExecutedUnits() (all []Unit) {
	for _, r := range read("functions.csv", 4) {
		all = append(all, Unit{r[0], integer(r[1]), r[2], number(r[3])})
	}
	return all
}

// Symbol returns the name that the kernels' assembly uses for a function of package internal/workload/sve.
func Symbol(function string) string {
	switch function {
	case "reduce_128_64":
		return "reduce128"
	case "mult_128":
		return "product"
	case "mult_128_halves":
		return "productHalves"
	case "mult_72":
		return "mulByte"
	case "spmv_4x12":
		return "spmv"
	case "spmv_4x12_8":
		return "spmvByte"
	case "mmult_4x12":
		return "mmult"
	case "mmult_4x12_8":
		return "mmultByte"
	}
	return function
}

// read returns the rows of a file without its head.
func read(name string, columns int) [][]string {
	r := csv.NewReader(must(files.Open(name)))
	r.Comment, r.FieldsPerRecord = '#', columns
	return must(r.ReadAll())[1:]
}

func integer(text string) int { return must(strconv.Atoi(text)) }

func number(text string) float64 { return must(strconv.ParseFloat(text, 64)) }

// must panics if err is not nil. The files are part of the program, and a test reads all of them.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
