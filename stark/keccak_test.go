package stark_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
	"github.com/zkbench/zkbench/stark/keccak"
)

// changed returns a trace that fills like t and then changes a cell.
func changed(t stark.Trace, row, column int, by uint64) stark.Trace {
	fill := t.Fill
	t.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		if err := fill(ctx, ex, cells); err != nil {
			return err
		}
		if short := stark.Columns[uint32](cells); short != nil {
			cells.Set(row, column, (uint64(short[column][row])+by)%(1<<31-1<<24+1))
		} else {
			cells.Set(row, column, stark.Columns[uint64](cells)[column][row]+by) // of 32 bits, or fewer
		}
		return nil
	}
	return t
}

// TestKeccakForced: a cell of Keccak's tables that is changed is named by Check, and a proof of such
// tables is rejected.
func TestKeccakForced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stark.Config
		verify func(t testing.TB, s *stark.System, proof []byte, about stark.Statement) error
		tries  int
	}{
		{stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak}, func(_ testing.TB, s *stark.System, proof []byte, about stark.Statement) error {
			return s.Verify(proof, about)
		}, testsize.Pick(8, 60, 5000)},
		{overPoseidon(stark.Params{}), circuittest.Verify, testsize.Pick(0, 4, 500)},
	} {
		if c.tries == 0 {
			continue
		}
		c.Params = stark.Params{Name: "test", Bits: stark.Unproven, LogBlowup: 1, Queries: 3, Stack: 4, LogFold: 3, LogFinal: 3, LogCap: 2}
		c.Params.Degree = map[stark.Field]int{stark.KoalaBear: 4, stark.Goldilocks: 2}[c.Field]
		s := must.Get(keccak.New(c.Config, stark.Public))(t)
		messages := [][]byte{bytes.Repeat([]byte{0x5a}, 200), []byte("abc")}
		about := must.Get(s.Statement(keccak.Claims(messages, stark.Public), nil))(t)
		verify := func(traces []stark.Trace) error {
			return c.verify(t, s.System, s.ProveForced(t, traces, about), about)
		}
		must.Do(t, verify(s.Traces(messages)))
		random := rand.New(rand.NewPCG(3, 4))
		widths := s.Widths()
		for range c.tries {
			// Rows of permutations that are answers, and of sponges' blocks: of three.
			table := random.IntN(2)
			row, column := random.IntN([]int{72, 3}[table]), random.IntN(widths[table])
			traces := s.Traces(messages)
			traces[table] = changed(traces[table], row, column, 1+random.Uint64N(3))
			name := fmt.Sprintf("%s, table %d, row %d, column %d", c.Field, table, row, column)
			must.Fail(t, s.System.Check(t.Context(), executor.Serial(), traces, about), zkbench.ErrWitness, "%s", name)
			must.Fail(t, verify(traces), zkbench.ErrProof, "%s", name)
		}
	}
}

// TestSecret: a message that is exposed is read from its proof, bit by bit, by whoever knows its length: the other rows
// of the table are of empty messages. From one that is hidden nothing is read.
func TestSecret(t *testing.T) {
	t.Parallel()
	const (
		bits  = 4 + 2*100 + 1088 // before the columns of a block's bits: four, two states in limbs, the bits of the rate
		block = 1088
	)
	message := []byte("a secret")
	read := func(of stark.Visibility) (text []byte, agreed int) {
		params := small(4, 3)
		params.ZeroKnowledge = of == stark.Hidden
		s := must.Get(keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, of))(t)
		about := must.Get(s.Statement(keccak.Claims([][]byte{message}, of), nil))(t)
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), [][]byte{message}, nil, stark.Options{}))(t)
		must.Do(t, s.System.Verify(proof, about))
		cells := make([]uint64, about.Forms[0][1])
		for i := range 8 * len(message) {
			for row := range cells { // of an empty message the first bit and the last are 1
				cells[row] = 0
				if row > 0 && (i == 0 || i == block-1) {
					cells[row] = 1
				}
			}
			if i%8 == 0 {
				text = append(text, 0)
			}
			for bit := range uint64(2) {
				if cells[0] = bit; s.System.Agrees(t, proof, about, 1, bits+i, cells) {
					text[i/8] |= byte(bit << (i % 8))
					agreed++
				}
			}
		}
		return text, agreed
	}
	text, agreed := read(stark.Exposed)
	golden.Equal(t, "what is read of an exposed message", string(message), string(text))
	golden.Equal(t, "guesses of a bit that agree", 8*len(message), agreed)
	_, agreed = read(stark.Hidden)
	golden.Equal(t, "guesses of a hidden bit that agree", 0, agreed)
}
