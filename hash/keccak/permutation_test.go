package keccak

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestSum: Round's sponge is Keccak's, with derived constants.
func TestSum(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 134, 135, 136, 137, 300} {
		message := make([]byte, n)
		for i := range message {
			message[i] = byte(3*i + n)
		}
		golden.Equal(t, fmt.Sprintf("Keccak-256 of %d bytes", n), Sum256(message), Sum(Keccak256, message))
		golden.Equal(t, fmt.Sprintf("SHA3-256 of %d bytes", n), SumSHA3256(message), Sum(SHA3256, message))
	}
}
