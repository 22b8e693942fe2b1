// Package counts has the numbers of instructions of the Goldilocks kernels: as the assembly
// has them, and as an emulator of arm64 executes them.
package counts

import (
	"embed"
	"encoding/csv"
	"strconv"
)

//go:embed *.csv
var files embed.FS

// Function is what one pass of the loop of a kernel's function on vectors has.
type Function struct {
	Kernel    string // goldilocks.Kernel's, not portable
	Name      string // the kernel's: Symbol gives that of one of the study's functions
	Registers int    // of results that a pass makes
	// Instructions: on vectors, with or without an operand in memory; loads and stores
	// alone; counters, addresses and branches.
	Compute, Memory, Control int
}

// Static are all functions of all kernels.
func Static() (all []Function) {
	for _, r := range read("instructions.csv", 6) {
		all = append(all, Function{
			Kernel: r[0], Name: r[1],
			Registers: integer(r[2]), Compute: integer(r[3]), Memory: integer(r[4]), Control: integer(r[5]),
		})
	}
	return all
}

// StaticOf is a kernel's loop of one of the functions of package internal/workload/sve; nil: it has
// none.
func StaticOf(kernel, function string) *Function {
	for _, f := range Static() {
		if f.Kernel == kernel && f.Name == Symbol(function) {
			return &f
		}
	}
	return nil
}

// Permutation is how many instructions are executed for each of many permutations of
// Poseidon by a kernel of arm64 with vectors of that many bits.
type Permutation struct {
	Kernel       string
	Bits         int
	Instructions float64
}

// Executed are the permutations of the kernels of arm64, by kernel and then by bits.
func Executed() (all []Permutation) {
	for _, r := range read("permutation.csv", 3) {
		all = append(all, Permutation{r[0], integer(r[1]), number(r[2])})
	}
	return all
}

// Unit is how many instructions are executed for each of many units of one of the functions
// of package internal/workload/sve by a kernel of arm64 with vectors of that many bits.
type Unit struct {
	Kernel       string
	Bits         int
	Function     string
	Instructions float64
}

// ExecutedUnits are the functions of the kernels of arm64, by kernel, bits and function.
func ExecutedUnits() (all []Unit) {
	for _, r := range read("functions.csv", 4) {
		all = append(all, Unit{r[0], integer(r[1]), r[2], number(r[3])})
	}
	return all
}

// Symbol is the kernels' name of one of the functions of package internal/workload/sve.
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

// read returns the rows of a file under its head.
func read(name string, columns int) [][]string {
	r := csv.NewReader(must(files.Open(name)))
	r.Comment, r.FieldsPerRecord = '#', columns
	return must(r.ReadAll())[1:]
}

func integer(text string) int { return must(strconv.Atoi(text)) }

func number(text string) float64 { return must(strconv.ParseFloat(text, 64)) }

// must panics: the files are part of the program, and a test reads all of them.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
