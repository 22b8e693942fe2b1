package hash_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/hash"
)

func bytesCase(n string) workload.Case { return workload.NewCase(record.Axis{Key: "bytes", Value: n}) }

// TestKeccakNative: at the borders of blocks and of the check's pieces an operation is
// the hash of its input, and another digest is refused.
func TestKeccakNative(t *testing.T) {
	for _, n := range []int{0, 1, 135, 136, 585, 586, 13_600} {
		t.Run("bytes="+strconv.Itoa(n), func(t *testing.T) {
			instance := must.Get(hash.KeccakNative().New(t.Context(), bytesCase(strconv.Itoa(n)), 1))(t)
			input := must.Get(instance.Input(t.Context(), 7))(t)
			output := must.Get(instance.Run(t.Context(), input))(t)
			if want := keccak.Sum256(input.([]byte)); len(input.([]byte)) != n || !bytes.Equal(output, want[:]) {
				t.Errorf("%d bytes hash to %x, want %x", len(input.([]byte)), output, want)
			}
			must.Do(t, instance.Check(t.Context(), input, output))
			sizes, err := instance.Metrics(t.Context())
			if err != nil || len(sizes) != 1 || sizes[0].Quantity != record.Blocks || sizes[0].Value != float64(n/136+1) {
				t.Errorf("%v, %v", sizes, err)
			}
			output[31] ^= 1
			if instance.Check(t.Context(), input, output) == nil {
				t.Error("a changed hash passes its check")
			}
			if instance.Check(t.Context(), input, nil) == nil {
				t.Error("no hash passes its check")
			}
			must.Do(t, instance.Close())
		})
	}
}

// TestInputs: messages depend on seed and sequence number, and on nothing else.
func TestInputs(t *testing.T) {
	input := func(seed, seq uint64) string {
		instance := must.Get(hash.KeccakNative().New(t.Context(), bytesCase("64"), seed))(t)
		m := must.Get(instance.Input(t.Context(), seq))(t)
		return string(m.([]byte))
	}
	first := input(1, 2)
	if again := input(1, 2); again != first {
		t.Errorf("one input is %x and %x", first, again)
	}
	if input(2, 2) == first || input(1, 3) == first {
		t.Error("inputs of another seed or sequence number are alike")
	}
}

func TestRefused(t *testing.T) {
	for _, n := range []string{"-1", "33554433", "x", ""} {
		must.FailGet(hash.KeccakNative().New(t.Context(), bytesCase(n), 1))(t, zkbench.ErrParams, "bytes=%s", n)
	}
	axis, ok := hash.KeccakNative().Axis("bytes")
	if !ok {
		t.Fatal("no axis bytes")
	}
	must.Get(axis.Parse("0,33554432"))(t)
	must.FailGet(axis.Parse("33554433"))(t, zkbench.ErrParams, "a length above the greatest")
}
