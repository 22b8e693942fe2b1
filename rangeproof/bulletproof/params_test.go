package bulletproof

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for m, want := range map[int]string{1: "bulletproof", 3: "bulletproof-agg"} {
		golden.Equal(t, fmt.Sprintf("name with %d commitments", m), want, newProtocol(t, Config{Bits: 8, MaxCommitments: m}).Name())
	}
}

func TestPaddedLengths(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 8, MaxCommitments: 1})
	if (p.Shape(0) != rangeproof.Shape{}) || (p.Shape(2) != rangeproof.Shape{}) {
		t.Error("shape of an m that is not accepted is not zero")
	}
	for _, tc := range []struct{ bits, m, stop, N, rounds int }{
		{64, 1, 1, 64, 6},
		{64, 1, 4, 64, 4},
		{33, 1, 4, 48, 4},
		{5, 1, 4, 6, 1},
		{5, 1, 1, 8, 3},
		{3, 3, 2, 16, 3},
		{7, 3, 8, 24, 2},
		{4, 1, 8, 4, 0},
	} {
		d := Config{Bits: tc.bits, MaxCommitments: tc.m, Stop: tc.stop}.dims(tc.m)
		if d.N != tc.N || d.rounds != tc.rounds || d.last<<d.rounds != d.N || d.last > tc.stop {
			t.Errorf("bits=%d/m=%d/stop=%d: %+v, want N=%d and %d rounds", tc.bits, tc.m, tc.stop, d, tc.N, tc.rounds)
		}
	}
	for bits := 1; bits <= MaxBits; bits++ {
		for stop := 1; stop <= 16; stop++ {
			c := Config{Bits: bits, MaxCommitments: 9, Stop: stop}
			for m := 2; m <= 9; m++ {
				if c.dims(m-1).N > c.dims(m).N {
					t.Fatalf("bits=%d/stop=%d: N shrinks from m=%d to m=%d", bits, stop, m-1, m)
				}
			}
		}
	}
}

// For parameters that New refuses there are no generators; it takes the least and the greatest.
func TestBadParametersHaveNoFamilies(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{Bits: 1, MaxCommitments: 1}, {Bits: MaxBits, MaxCommitments: MaxAggregate}} {
		if _, err := cfg.complete(); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []Config{
		{Bits: 0, MaxCommitments: 1},
		{Bits: 65, MaxCommitments: 1},
		{Bits: -8, MaxCommitments: 1},
		{Bits: 8, MaxCommitments: 0},
		{Bits: 8, MaxCommitments: MaxAggregate + 1},
		{Bits: 8, MaxCommitments: 1, Stop: -1},
	} {
		families := Families(cfg.Bits, cfg.MaxCommitments, cfg.Stop)
		must.FailGet(group.NewBasis(group.BN254(), families, group.TableOptions{}))(t, zkbench.ErrParams, "%+v: NewBasis", cfg)
	}
}
