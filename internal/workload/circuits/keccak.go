package circuits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/plonkish"
	rows "github.com/zkbench/zkbench/plonkish/keccak"
)

// The forms of the Keccak circuit.
const (
	keccakBits     = "bits"     // a wire for each bit; the circuit fixes the length
	keccakVariable = "variable" // the same for any length that fits into --blocks
	keccakStd      = "std"      // gnark's own gadget
	keccakLookup   = "lookup"   // lookups of slices of lanes; the circuit fixes the length
	keccakWide     = "wide"     // eight slices per row, for any messages that fit into --blocks
)

// studyShapes holds the wide circuits of the study.
var studyShapes = []string{"wide-14-25", "wide-15-28", "wide-15-9"}

// wideForms describes the forms that wideShape accepts.
var wideForms = fmt.Sprintf("wide-K-ROWS: 2^K rows, K from %d to %d, and ROWS of a round, %d to %d", rows.MinWideLog, rows.MaxWideLog, rows.MinWideRows, rows.RoundRows)

// wideShape returns the wide circuit with the given name, whose size does not depend on the message. For example,
// wide-14-25 has 2^14 rows, 25 of them per round.
func wideShape(form string) (w rows.Wide, ok bool) {
	numbers, ok := strings.CutPrefix(form, keccakWide+"-")
	k, of, two := strings.Cut(numbers, "-")
	log, err := strconv.Atoi(k)
	round, err2 := strconv.Atoi(of)
	if !ok || !two || err != nil || err2 != nil || round > rows.RoundRows || form != fmt.Sprintf("%s-%d-%d", keccakWide, log, round) {
		return w, false
	}
	w = rows.Wide{Log: log, Rows: round, Padding: hash.Keccak256}
	_, err = w.Capacity()
	return w, err == nil
}

const (
	mostBytes  = 1 << 24
	mostBlocks = mostBytes/hash.Rate + 1
)

// Keccak returns the workload that proves the Keccak-256 of a message.
func Keccak() workload.Def {
	of := onGnark(1, keccakBits, keccakVariable, keccakStd).withOurs(systemUltra, append([]string{keccakLookup, keccakWide}, studyShapes...)...)
	ours := &of[len(of)-1]
	ours.more, ours.moreForms = func(form string) bool { _, ok := wideShape(form); return ok }, wideForms
	return define("Keccak", "a proof of a Keccak-256 digest", "a proof of knowledge of a message with a given Keccak-256 digest; the message is secret and, with --form variable, its length too", stageWitness, // keys of one block take a minute on one core
		[]workload.Axis{
			of.form(),
			workload.IntAxis(workload.Axis{Name: "bytes", Usage: "lengths of messages in bytes", Smoke: "135"}, 0, mostBytes, 135, 136),
			workload.IntAxis(workload.Axis{Name: "blocks", Usage: "numbers of blocks that the circuit can hash, with --form variable or wide (0: as many as the message needs)", Smoke: "0"}, 0, mostBlocks, 0),
		}, of, keccakTask)
}

func keccakTask(c workload.Case, seed uint64) (task, error) {
	n, err := c.Int("bytes")
	if err != nil {
		return task{}, err
	}
	blocks, err := c.Int("blocks")
	if err != nil {
		return task{}, err
	}
	form, needed := c.Get("form"), hash.Blocks(n)
	shape, isShape := wideShape(form)
	switch {
	case isShape && blocks == 0:
		blocks, err = shape.Capacity()
	case form != keccakVariable && form != keccakWide && blocks != 0:
		err = &argument.ValueError{Field: "blocks", Value: fmt.Sprint(blocks), Accepted: fmt.Sprintf("0, or others together with --form %s or %s", keccakVariable, keccakWide)}
	}
	if err != nil {
		return task{}, err
	}
	if blocks != 0 && blocks < needed {
		return task{}, &zkbench.LimitError{What: "blocks of a message", Estimate: int64(needed), Max: int64(blocks)}
	}
	blocks = max(blocks, needed)
	message := func(seq uint64) []byte {
		message := make([]byte, n)
		_, _ = corpus(seed, seq).Read(message) // which never fails
		return message
	}
	if implOf(c) == implOurs {
		return ourKeccak(form, n, blocks, needed, seed, message)
	}
	each, system := keccak.BlockConstraints, c.Get("system")
	if form == keccakStd {
		each = keccak.StdBlockConstraints
	}
	e := ofBlocks(memoryOf(system), blocks, func(blocks int) int { return each * blocks })
	if err := e.fits(system == systemPlonk); err != nil { // before the circuit has a variable for each byte
		return task{}, err
	}
	build := func() (keccak.Circuit, error) {
		switch form {
		case keccakVariable:
			return keccak.NewVariable(blocks, hash.Keccak256)
		case keccakStd:
			return keccak.NewStd(n)
		}
		return keccak.NewFixed(n, hash.Keccak256)
	}
	circuit, err := build()
	if err != nil {
		return task{}, err
	}
	p := &gnarkProver{system: system, seed: seed, circuit: circuitOf(build), figures: blockFigures(blocks, needed), assign: func(seq uint64) (frontend.Circuit, error) {
		message := message(seq)
		return circuit.Assign(message, hash.Sum256(message))
	}}
	return task{p, e}, nil
}

func blockFigures(blocks, needed int) figures {
	return figures{record.Blocks.Metric(float64(blocks)), record.BlocksNeeded.Metric(float64(needed))}
}

// ofBlocks returns the estimate of a circuit for the given number of blocks. constraints returns the number of
// constraints that a number of blocks has.
func ofBlocks(m memoryModel, blocks int, constraints func(blocks int) int) estimate {
	return estimate{constraints(blocks), m, func(fits func(int) bool) string {
		most := largestSize(mostBlocks, func(blocks int) bool { return fits(constraints(blocks)) })
		return fmt.Sprintf("%d blocks, messages of %d bytes", most, most*hash.Rate-1)
	}}
}

// ourKeccak returns the task of one of our forms. In lookup the digest is public, one value per byte. The other forms
// choose their public values themselves.
func ourKeccak(form string, bytes, blocks, needed int, seed uint64, message func(seq uint64) []byte) (task, error) {
	p := &ourProver{seed: seed, figures: blockFigures(blocks, needed)}
	if form == keccakLookup {
		p.circuit = func(seq uint64) (*plonkish.Circuit, error) { return keccakRows(message(seq)) }
		return task{p, ofBlocks(ourMemory(len(plonkish.UltraPlonk().Columns)), blocks, func(blocks int) int {
			used, tables := rows.LookupRows(blocks)
			return max(used+hash.Digest, tables) + plonkish.BlindedRows
		})}, nil
	}
	wide, ok := wideShape(form)
	if !ok {
		var err error
		if wide, err = rows.WideOf(blocks, hash.Keccak256); err != nil {
			return task{}, err
		}
	}
	p.figures = append(p.figures, record.Columns.Metric(float64(wide.Columns())))
	p.circuit = func(seq uint64) (*plonkish.Circuit, error) { return wide.Circuit(message(seq)) }
	return task{p, estimate{constraints: 1 << wide.Log, memory: ourMemory(wide.Columns())}}, nil
}

// keccakRows returns the circuit of a message in our system Ultra.
func keccakRows(message []byte) (*plonkish.Circuit, error) {
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	h, err := rows.NewLookup(b, hash.Keccak256)
	if err != nil {
		return nil, err
	}
	var bytes []plonkish.Var
	for _, c := range message {
		bytes = append(bytes, b.Var(fr.NewElement(uint64(c))))
	}
	for _, v := range h.Sum256(bytes) {
		b.Equal(v, b.Public(b.Value(v)))
	}
	return b.Build()
}
