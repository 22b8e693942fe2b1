package stark_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// small returns parameters that promise nothing, for tests.
func small(degree, stack int) stark.Params {
	return stark.Params{Name: "test", Bits: stark.Unproven, Degree: degree, LogBlowup: 2, Queries: 5, Grinding: 3, Stack: stack, LogFold: 3, LogFinal: 2, LogCap: 2}
}

// configs returns all configurations, with several stack sizes.
func configs() (all []stark.Config) {
	for _, stack := range []int{0, 1, 3} {
		all = append(all,
			stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2, stack)},
			stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: small(3, stack)},
			stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, stack)},
			stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(6, stack)},
		)
	}
	return all
}

// squares returns a table that answers with x and x² for x from 0 on, as often as its third column says.
func squares() *air.Table {
	return &air.Table{Name: "squares", Columns: 3, State: func(b *air.Builder) {
		x, y, times := b.Here(0), b.Here(1), b.Here(2)
		b.Zero(air.First, "begins", x)
		b.Zero(air.Transition, "counts", b.Next(0).Sub(x).Plus(-1))
		b.Zero(air.Everywhere, "square", y.Sub(x.Mul(x)))
		b.Answer("square", times, x, y)
	}}
}

// walk returns a table that asks for the squares of a and b in each row. Their sum a + b is the next row's a.
func walk() *air.Table {
	return &air.Table{Name: "walk", Columns: 5, State: func(b *air.Builder) {
		b.Zero(air.First, "first", b.Here(0).Sub(b.Public(0)))
		b.Zero(air.Last, "last", b.Here(2).Sub(b.Public(1)))
		b.Zero(air.Transition, "next", b.Next(0).Sub(b.Here(2)))
		b.Zero(air.Everywhere, "sum", b.Here(2).Sub(b.Here(0)).Sub(b.Here(1)))
		b.Ask("square", air.Constant(1), b.Here(0), b.Here(3))
		b.Ask("square", air.Constant(1), b.Here(1), b.Here(4))
		b.Ask("square", air.Constant(1), b.Here(2), b.Here(2).Mul(b.Here(2)))
	}}
}

// traces returns the traces of a walk in steps of one, in a table of the given height. The last rows, as many
// as random says, are not filled.
func traces(rows, random int) (all []stark.Trace, about stark.Statement) {
	counts := make([]uint64, 8*rows-random)
	height := rows
	rows -= random
	var walked [][5]uint64
	for i := range rows {
		a, b := uint64(i), uint64(1)
		for _, v := range []uint64{a, b, a + b} {
			counts[v]++
		}
		walked = append(walked, [5]uint64{a, b, a + b, a * a, b * b})
	}
	counts[3]++
	about = stark.Statement{
		Forms:    []stark.Form{{8 * height, height}},
		Publics:  []uint64{0, uint64(rows)},
		Messages: []stark.Message{{Bus: "square", Times: -1, Tuple: []uint64{3, 9}}},
		Context:  []byte("context"),
	}
	return []stark.Trace{
		{Rows: 8 * height, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			for i, n := range counts {
				c.Set(i, 0, uint64(i))
				c.Set(i, 1, uint64(i*i))
				c.Set(i, 2, n)
			}
			return nil
		}},
		{Rows: height, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
			for i, row := range walked {
				for j, v := range row {
					c.Set(i, j, v)
				}
			}
			return nil
		}},
	}, about
}

func TestProve(t *testing.T) {
	t.Parallel()
	all := configs()
	for _, c := range configs() {
		c.Params.ZeroKnowledge = true
		all = append(all, c)
	}
	for _, c := range all {
		t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d/zk=%t", c.Field, c.Hash, c.Params.Degree, c.Params.Stack, c.Params.ZeroKnowledge), func(t *testing.T) {
			t.Parallel()
			s, err := stark.New(c, squares(), walk())
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{2, 16, 512} {
				rows = max(rows, 2*c.Params.Random())
				if c.Params.ZeroKnowledge {
					rows = c.Params.Height(rows)
				}
				columns, about := traces(rows, c.Params.Random())
				proof, err := s.Prove(t.Context(), executor.Serial(), columns, about, stark.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Verify(proof, about); err != nil {
					t.Fatalf("%d rows: %v", rows, err)
				}
				other := about
				other.Context = []byte("another")
				must.Fail(t, s.Verify(proof, other), zkbench.ErrProof, "another context")
			}
		})
	}
}

// TestLean: a proof that keeps little is the same proof.
func TestLean(t *testing.T) {
	t.Parallel()
	for _, c := range configs() {
		for _, zero := range []bool{false, true} {
			c.Params.ZeroKnowledge = zero
			t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d/zk=%t", c.Field, c.Hash, c.Params.Degree, c.Params.Stack, zero), func(t *testing.T) {
				t.Parallel()
				s := must.Get(stark.New(c, squares(), walk()))(t)
				traces, about := traces(512, c.Params.Random())
				prove := func(lean bool) []byte {
					return s.ProveLean(t, lean, traces, about, stark.Options{Rand: bytes.NewReader(make([]byte, 32))})
				}
				proof := prove(false)
				golden.Equal(t, "the proof", proof, prove(true))
				least := stark.Options{Rand: bytes.NewReader(make([]byte, 32)), Lean: true}
				golden.Equal(t, "the proof of the least memory", proof, must.Get(s.Prove(t.Context(), executor.Pool(), traces, about, least))(t))
			})
		}
	}
}

// TestConcurrent: proofs of one system at a time are the same proofs, where they make cosets of its fixed columns too.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	params := small(4, 1)
	params.LogBlowup = 4
	s := must.Get(stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, stark.FixedTables(nil)...))(t)
	traces, about := stark.FixedTraces(nil)
	first := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, stark.Options{}))(t)
	must.Do(t, executor.Unbounded().Do(t.Context(), 8, func(ctx context.Context, _ int) error {
		for i := range 8 {
			proof, err := s.Prove(ctx, executor.Serial(), traces, about, stark.Options{Lean: i%2 > 0})
			if err != nil {
				return err
			}
			if !bytes.Equal(proof, first) {
				return errors.New("another proof")
			}
		}
		return nil
	}))
}

// TestBuses: what goes to one bus is not taken from another, though weights add up to one.
func TestBuses(t *testing.T) {
	t.Parallel()
	table := &air.Table{Name: "sends", Columns: 1, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "constant", b.Here(0).Plus(-5))
		b.Answer("one", air.Constant(1), b.Here(0), b.Here(0), b.Here(0))
		b.Answer("two", air.Constant(0), b.Here(0), b.Here(0), b.Here(0))
	}}
	traces := []stark.Trace{{Rows: 4, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
		for row := range 4 {
			c.Set(row, 0, 5)
		}
		return nil
	}}}
	for _, c := range configs() {
		s, err := stark.New(c, table)
		must.Do(t, err)
		for _, of := range []struct {
			bus   string
			value uint64
		}{{"one", 5}, {"two", 4}, {"two", 5}, {"two", 6}} {
			bus, value := of.bus, of.value
			about := stark.Statement{Forms: []stark.Form{{4}}, Messages: []stark.Message{{Bus: bus, Times: -4, Tuple: []uint64{value, value, value}}}}
			proof, err := s.Prove(t.Context(), executor.Serial(), traces, about, stark.Options{})
			if bus == "two" {
				must.Fail(t, err, zkbench.ErrWitness, "received from another bus")
				continue
			}
			must.Do(t, err)
			must.Do(t, s.Verify(proof, about))
		}
	}
}

// TestParams: a system proves the bits that its parameters promise, or nothing is proved and verified.
func TestParams(t *testing.T) {
	t.Parallel()
	for _, field := range []stark.Field{stark.Goldilocks, stark.KoalaBear} {
		all := []stark.Params{stark.Secure128(field), stark.Compare100(field)}
		if field == stark.Goldilocks {
			all = append(all, stark.Machine100())
		}
		for rate := 1; rate <= 4; rate++ {
			params, err := stark.Secure100(field, rate)
			must.Do(t, err)
			all = append(all, params)
		}
		for _, params := range all {
			params.ZeroKnowledge = true
			all = append(all, params)
		}
		for _, params := range all {
			params.Grinding = min(params.Grinding, 16)
			s, err := stark.New(stark.Config{Field: field, Hash: stark.Keccak, Params: params}, squares(), walk())
			must.Do(t, err)
			for _, rows := range []int{2, 64} {
				if params.ZeroKnowledge {
					rows = params.Height(rows)
				}
				columns, about := traces(rows, params.Random())
				p, err := s.Security(stark.Form{8 * rows, rows}, len(about.Messages))
				must.Do(t, err)
				best, err := p.Best()
				must.Do(t, err)
				enough := best.Bits() >= params.Bits
				if !enough && rows >= 64 || params.Bits == stark.Unproven && best.Bits() > 57 {
					t.Errorf("%s, %s, %d rows: %d bits", field, params.Name, rows, best.Bits())
				}
				proof, err := s.Prove(t.Context(), executor.Serial(), columns, about, stark.Options{})
				if enough {
					must.Do(t, err)
					must.Do(t, s.Verify(proof, about))
					continue
				}
				must.Fail(t, err, zkbench.ErrParams, "%s of %d rows", params.Name, rows)
				must.Fail(t, s.Verify([]byte{4, 1}, about), zkbench.ErrParams, "%s of %d rows", params.Name, rows)
			}
		}
	}
}

// TestMessageLimit: parameters prove their bits for a number of messages, and the verifier refuses a form of more.
func TestMessageLimit(t *testing.T) {
	t.Parallel()
	const rows, most = 1 << 21, 53_687_091 // 5 most is 2^28 - 1
	for messages, accepted := range map[int]bool{most / rows: true, most/rows + 1: false} {
		table := &air.Table{Name: "messages", Columns: 8, State: func(b *air.Builder) {
			var tuple []air.Expr
			for i := range 8 {
				tuple = append(tuple, b.Here(i))
			}
			for range messages {
				b.Answer("bus", b.Here(0), tuple...)
			}
		}}
		s := must.Get(stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: stark.Machine100()}, table))(t)
		about := stark.Statement{Forms: []stark.Form{{rows}}}
		err := s.Verify([]byte{21}, about) // of the proof there is only the height
		if !accepted {
			must.Fail(t, err, zkbench.ErrParams, "%d messages in a row", messages)
			must.FailGet(s.Prove(t.Context(), executor.Serial(), []stark.Trace{counting(rows)}, about, stark.Options{}))(t, zkbench.ErrParams, "%d messages in a row", messages)
			continue
		}
		must.Fail(t, err, zkbench.ErrMalformed, "%d messages in a row", messages)
		// Those of the statement count too.
		for more, want := range map[int]int{most - messages*rows: 100, most - messages*rows + 1: 99} {
			best := must.Get(must.Get(s.Security(stark.Form{rows}, more))(t).Best())(t)
			golden.Equal(t, fmt.Sprintf("bits with %d messages of the statement", more), want, best.Bits())
		}
	}
}
