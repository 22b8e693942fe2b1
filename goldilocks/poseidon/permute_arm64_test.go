//go:build !purego

package poseidon

import "testing"

// TestTable: no constant makes the kernels' sum of a row carry.
func TestTable(t *testing.T) {
	t.Parallel()
	for i, c := range table {
		if c >= 1<<64-1<<42 {
			t.Errorf("constant %d is %x", i, c)
		}
	}
}
