package poseidon2_test

import (
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon2"
)

// TestVector is Plonky3's (p3-goldilocks 0.9.0-rc.2, test_default_goldilocks_poseidon2_width_12).
func TestVector(t *testing.T) {
	t.Parallel()
	var s poseidon2.State
	for i := range s {
		s[i] = goldilocks.Element(i)
	}
	want := poseidon2.State{
		0xf292ab67c0f14b03, 0x0a32f1b37656544c, 0x053c61ab895498de, 0x02ff92e55b196ffb,
		0x58176e8f6f58cab2, 0xb0aa1206e7aec0f8, 0xe90c13f3dce83ca4, 0xf4da15333edf39c2,
		0x23b701c053c2ca6c, 0xd233d593dcdfbf58, 0x4effa5f9516fb52e, 0x0aaf4489f1f40166,
	}
	if s.Permute(); s != want {
		t.Errorf("%#x", s)
	}
}

func BenchmarkPermute(b *testing.B) {
	var s poseidon2.State
	for b.Loop() {
		s.Permute()
	}
}
