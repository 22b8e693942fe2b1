package circuits

import (
	"fmt"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// The forms of the Keccak circuit.
const (
	keccakBits     = "bits"     // a wire for each bit, a length that the circuit knows
	keccakVariable = "variable" // the same, any length up to what --blocks hold
	keccakStd      = "std"      // gnark's own gadget
)

const (
	mostBytes  = 1 << 24
	mostBlocks = mostBytes/hash.Rate + 1
)

// Keccak is the hash of a message.
func Keccak() workload.Def {
	forms := []string{keccakBits, keccakVariable, keccakStd}
	return define("Keccak", "gnark's proof of knowledge of a message with a Keccak-256 digest; message and, in the form variable, length are secret", stageWitness, // keys of one block take a minute on one core
		[]workload.Axis{
			workload.NameAxis(workload.Axis{Name: "form", Usage: "forms of the circuit"}, forms, forms[:1]),
			workload.IntAxis(workload.Axis{Name: "bytes", Usage: "lengths of messages in bytes", Smoke: "135"}, 0, mostBytes, 135, 136),
			workload.IntAxis(workload.Axis{Name: "blocks", Usage: "with --form variable: numbers of blocks that the circuit can hash; 0: as many as the message needs", Smoke: "0"}, 0, mostBlocks, 0),
		}, keccakTask)
}

func keccakTask(c workload.Case, seed uint64) (task, estimate, error) {
	n, err := c.Int("bytes")
	if err != nil {
		return task{}, estimate{}, err
	}
	blocks, err := c.Int("blocks")
	if err != nil {
		return task{}, estimate{}, err
	}
	form, needed := c.Get("form"), hash.Blocks(n)
	var circuit keccak.Circuit
	each := keccak.BlockConstraints
	switch {
	case form != keccakVariable && blocks != 0:
		return task{}, estimate{}, &usage.ValueError{Field: "blocks", Value: fmt.Sprint(blocks), Accepted: "0, or others together with --form " + keccakVariable}
	case form == keccakVariable && blocks != 0 && blocks < needed:
		return task{}, estimate{}, &zkbench.LimitError{What: "blocks of a message", Estimate: int64(needed), Max: int64(blocks)}
	case form == keccakVariable:
		blocks = max(blocks, needed)
		circuit, err = keccak.NewVariable(blocks, hash.Keccak256)
	case form == keccakStd:
		blocks, each = needed, keccak.StdBlockConstraints
		circuit, err = keccak.NewStd(n)
	default:
		blocks = needed
		circuit, err = keccak.NewFixed(n, hash.Keccak256)
	}
	if err != nil {
		return task{}, estimate{}, err
	}
	t := task{
		circuit: circuit,
		metrics: []record.Metric{record.Blocks.Metric(float64(blocks)), record.BlocksNeeded.Metric(float64(needed))},
		assign: func(seq uint64) (frontend.Circuit, error) {
			message := make([]byte, n)
			_, _ = corpus(seed, seq).Read(message) // which never fails
			return circuit.Assign(message, hash.Sum256(message))
		},
	}
	return t, estimate{each * blocks, func(have int64) string {
		most := largestSize(mostBlocks, func(blocks int) bool { return bytesOf(c.Get("system"), each*blocks) <= have })
		return fmt.Sprintf("%d blocks, messages of %d bytes", most, most*hash.Rate-1)
	}}, nil
}
