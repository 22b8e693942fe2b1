package asm

import (
	"bytes"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestLeave: values that exchange their registers go through one that nothing needs, and those that
// wait for a register wait until it has been read.
func TestLeave(t *testing.T) {
	t.Parallel()
	b := New(4)
	first, second, third := b.Enter(0), b.Enter(1), b.Enter(2)
	sum := b.Op("VPADDQ", first, third)
	b.Leave(first, 1)
	b.Leave(second, 0)
	b.Leave(third, 3)
	b.Leave(sum, 2)
	var out bytes.Buffer
	if n := b.Write(&out, map[string]string{"pinned": "Y4"}); n != 0 {
		t.Errorf("%d values on the stack", n)
	}
	golden.Equal(t, "code", `	VPADDQ Y0, Y2, Y3
	VMOVDQA Y0, Y5
	VMOVDQA Y1, Y0
	VMOVDQA Y5, Y1
	VMOVDQA Y2, Y5
	VMOVDQA Y3, Y2
	VMOVDQA Y5, Y3
`, out.String())
}

// TestLeaveStack: what has no register when the block ends comes from the stack.
func TestLeaveStack(t *testing.T) {
	t.Parallel()
	b := New(4)
	waits := b.Enter(0)
	var sums []Value
	for range 16 {
		sums = append(sums, b.Load("(SI)"))
	}
	for _, v := range sums {
		b.Store(v, "(DI)")
	}
	b.Leave(waits, 7)
	var out bytes.Buffer
	golden.Equal(t, "places", 1, b.Write(&out, nil))
	if !bytes.HasSuffix(out.Bytes(), []byte("\tVMOVDQA 0(R12), Y7\n")) {
		t.Errorf("the last step is not a load from the stack:\n%s", &out)
	}
}
