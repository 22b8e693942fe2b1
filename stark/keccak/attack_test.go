package keccak

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/keccaktest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
)

func config(field stark.Field) stark.Config {
	params := stark.Compare100(field)
	params.Grinding = 0
	return stark.Config{Field: field, Hash: stark.Keccak, Params: params}
}

func attacked(t *testing.T, field stark.Field, messages stark.Visibility) *System {
	t.Helper()
	return must.Get(New(config(field), messages))(t)
}

// inCircuit returns a configuration whose verifiers have programs.
func inCircuit() stark.Config {
	params := stark.Params{Name: "in circuit", Bits: stark.Unproven, Degree: 2, LogBlowup: 1, Queries: 1, Stack: 4, LogFold: 3, LogFinal: 3, LogCap: 1}
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}
}

// rejected proves traces that do not satisfy the tables, and fails the test unless the proof is rejected: by
// the verifier, by its program and by the system that proves the program. The proof is of the first statement
// that its messages fit, and is checked against the first of all.
func rejected(t *testing.T, s *stark.System, traces []stark.Trace, statements []stark.Statement, name string) {
	t.Helper()
	for _, about := range statements {
		proof, err := s.Prove(t.Context(), circuittest.Careless{Executor: executor.Serial()}, traces, about, stark.Options{})
		if err == nil {
			must.Fail(t, circuittest.Verify(t, s, proof, statements[0]), zkbench.ErrProof, "%s", name)
			return
		}
		must.Fail(t, err, zkbench.ErrWitness, "%s", name)
	}
	t.Errorf("%s: no proof", name)
}

// TestVectors: the tables are satisfied by the vectors of the Keccak team and of Ethereum, whose
// digests are claimed, over both fields; and by no digest that has another bit.
func TestVectors(t *testing.T) {
	t.Parallel()
	var messages [][]byte
	var claims []Claim
	for i, v := range keccaktest.Vectors(t) {
		digest, ok := v.Digests[keccak.Keccak256]
		boundary := len(v.Message)%keccak.Rate <= 1 || len(v.Message)%keccak.Rate == keccak.Rate-1
		if ok && len(v.Message) < 300 && (boundary || i%testsize.Pick(40, 5, 1) == 0) {
			messages = append(messages, v.Message)
			claims = append(claims, Claim{Length: len(v.Message), Digest: digest})
		}
	}
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		s := attacked(t, field, stark.Exposed)
		about, err := s.Statement(claims, nil)
		must.Do(t, err)
		must.Do(t, s.System.Check(t.Context(), executor.Serial(), s.Traces(messages), about))
		other := append([]Claim(nil), claims...)
		other[len(other)-1].Digest[7] ^= 0x10
		about, err = s.Statement(other, nil)
		must.Do(t, err)
		must.Fail(t, s.System.Check(t.Context(), executor.Serial(), s.Traces(messages), about), zkbench.ErrWitness, "another digest")
	}
}

// TestGaps: what other systems left open is none of a satisfying trace. Blocks are changed, states
// that follow from them are right, and what they give is claimed.
func TestGaps(t *testing.T) {
	t.Parallel()
	message := []byte(strings.Repeat("gap", 100)) // three blocks, the last of 28 bytes
	programmed := must.Get(New(inCircuit(), stark.Exposed))(t)
	systems := []*System{attacked(t, stark.KoalaBear, stark.Exposed), attacked(t, stark.Goldilocks, stark.Exposed), programmed}
	for name, c := range map[string]struct {
		change func(blocks []absorbed)
		length int    // that is claimed, where it is another
		says   string // in Check's error
	}{
		"capacity free between blocks": {func(b []absorbed) { b[1].old[20] ^= 1 }, 0, "state goes on"},
		"rate free between blocks":     {func(b []absorbed) { b[1].old[3] ^= 1 << 40 }, 0, "state goes on"},
		"a state that is not 0 first":  {func(b []absorbed) { b[0].old[24] = 7 }, 0, "state begins"},
		"no first bit of padding":      {func(b []absorbed) { b[2].block[3] &^= 0xff << 32 }, 0, "padding, byte 28 bit 0"},
		"another first bit":            {func(b []absorbed) { b[2].block[3] ^= 6 << 32 }, 0, "padding, byte 28 bit 1"},
		"no last bit of padding":       {func(b []absorbed) { b[2].block[16] = 0 }, 0, "padding, byte 135 bit 7"},
		"a bit within the padding":     {func(b []absorbed) { b[2].block[10] = 1 }, 0, "padding, byte 80 bit 0"},
		"a block that is left out": {func(b []absorbed) {
			b[1] = b[2]
			b[1].old, b[1].before = b[0].out, keccak.Rate
		}, 0, ""},
		"fewer bytes than there are": {func(b []absorbed) { b[2].bytes-- }, len(message) - 1, "padding, byte 27"},
		"more bytes than there are":  {func(b []absorbed) { b[2].bytes++ }, len(message) + 1, "padding, byte 29 bit 0"},
		"a length that is claimed":   {func([]absorbed) {}, len(message) + 1, "bus"},
		"bytes that are counted twice": {func(b []absorbed) {
			b[2].before += keccak.Rate
		}, len(message) + keccak.Rate, "bytes before a block"},
		"two first blocks": {func(b []absorbed) {
			b[1].old, b[1].before = [keccak.Lanes]uint64{}, 0
			b[2].before = keccak.Rate
		}, 2*keccak.Rate - keccak.Rate + 28, "bytes before a block"},
		"another permutation": {nil, 0, "bus"},
	} {
		for _, s := range systems {
			blocks := absorb([][]byte{message})
			if c.change != nil {
				c.change(blocks)
			}
			// What follows is right, but where the change is of what came before.
			for i := range blocks {
				blocks[i].out = Permute(blocks[i].input()).Out
				if i+1 < len(blocks) && blocks[i+1].old == absorb([][]byte{message})[i+1].old {
					blocks[i+1].old = blocks[i].out
				}
			}
			states := permuted(blocks)
			if c.change == nil {
				states[1].In[0] ^= 1 // not the state that is absorbed into
				states[1] = Permute(states[1].In)
			}
			claim := Claim{Length: len(message)}
			if c.length > 0 {
				claim.Length = c.length
			}
			digest := make([]byte, 0, keccak.Digest)
			for _, lane := range blocks[len(blocks)-1].out[:4] {
				for range 8 {
					digest = append(digest, byte(lane))
					lane >>= 8
				}
			}
			claim.Digest = [keccak.Digest]byte(digest)
			about, err := s.Statement([]Claim{claim}, nil)
			must.Do(t, err)
			traces := []stark.Trace{s.sponge.permutation.trace(s.heights(len(states))[0], states), s.sponge.trace(s.heights(len(blocks))[1], blocks, 1)}
			about.Forms = []stark.Form{{traces[0].Rows, traces[1].Rows}} // whatever length is claimed
			err = s.System.Check(context.Background(), executor.Serial(), traces, about)
			must.Fail(t, err, zkbench.ErrWitness, "%s", name)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			if s == programmed && testsize.Pick(c.says == "state begins" || c.says == "bus", true, true) {
				// What does not add up is proved of all that the tables send, and said to be of the claim.
				sent := stark.Statement{Forms: about.Forms, Messages: append(must.Get(s.sponge.exchange(permuted(blocks), 1))(t), must.Get(s.sponge.exchange(states, -1))(t)...)}
				for _, b := range blocks {
					if b.bytes < keccak.Rate {
						tuple := s.sponge.split([]uint64{uint64(b.message), uint64(b.before + b.bytes)}, b.out[:keccak.Digest/8]...)
						sent.Messages = append(sent.Messages, stark.Message{Bus: busHash, Times: -1, Tuple: tuple})
					}
				}
				rejected(t, s.System, traces, []stark.Statement{about, sent}, name)
			}
		}
	}
}

// TestReliance: sponges take any states for permutations, so that their table alone proves a digest that
// is none; the table of permutations proves no such list.
func TestReliance(t *testing.T) {
	t.Parallel()
	message := []byte(strings.Repeat("gap", 100))
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		sponges := must.Get(NewSpongeTable(config(field), stark.Public))(t)
		permutations := must.Get(NewPermutationTable(config(field)))(t)
		claims := Claims([][]byte{message}, stark.Public)
		claims[0].Digest[0] ^= 1
		blocks := absorb([][]byte{message})
		blocks[2].out[0] ^= 1
		about := must.Get(sponges.Statement(claims, permuted(blocks), nil))(t)
		traces := []stark.Trace{sponges.sponge.trace(sponges.heights(len(blocks))[0], blocks, 1)}
		must.Do(t, sponges.Check(t.Context(), executor.Serial(), traces, about))
		must.FailGet(permutations.Prove(t.Context(), executor.Serial(), permuted(blocks), nil, stark.Options{}))(t, zkbench.ErrWitness, "%s, what permutes nothing", field)
		// The true list is another statement.
		about = must.Get(sponges.Statement(claims, Permutations([][]byte{message}), nil))(t)
		must.Fail(t, sponges.Check(t.Context(), executor.Serial(), traces, about), zkbench.ErrWitness, "%s, permutations that are", field)
	}
}

// TestMessages: no statement has more messages than its bits are computed for, and those of public
// messages of one block each have as many.
func TestMessages(t *testing.T) {
	t.Parallel()
	messages := [][]byte{[]byte("abc"), nil}
	claims, states := Claims(messages, stark.Public), Permutations(messages)
	both := attacked(t, stark.KoalaBear, stark.Public)
	permutations := must.Get(NewPermutationTable(config(stark.KoalaBear)))(t)
	sponges := must.Get(NewSpongeTable(config(stark.KoalaBear), stark.Public))(t)
	for _, c := range []struct {
		name   string
		tables tables
		about  stark.Statement
	}{
		{"both", both.tables, must.Get(both.Statement(claims, nil))(t)},
		{"permutations", permutations.tables, must.Get(permutations.Statement(states, nil))(t)},
		{"sponges", sponges.tables, must.Get(sponges.Statement(claims, states, nil))(t)},
	} {
		golden.Equal(t, c.name, len(states)*c.tables.messages, len(c.about.Messages))
	}
}

// TestUnfinished: blocks of a message that no row ends are refused, between messages and other rows and
// at the table's end.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	s := must.Get(NewSpongeTable(inCircuit(), stark.Exposed))(t)
	// A last block that is no message's, and one that has no row.
	for where, length := range map[string]int{"before other rows": 200, "before the table does": leastRows * keccak.Rate} {
		messages := [][]byte{[]byte("abc"), make([]byte, length)}
		blocks := absorb(messages)
		real := min(len(blocks)-1, leastRows)
		blocks = blocks[:min(len(blocks), leastRows)]
		// Of the first message alone, and of the permutations of all real rows.
		about := stark.Statement{
			Forms:    []stark.Form{s.heights(len(blocks))},
			Messages: append(must.Get(s.sponge.claimed(Claims(messages[:1], stark.Exposed)))(t), must.Get(s.sponge.exchange(permuted(blocks[:real]), 1))(t)...),
		}
		trace := s.sponge.trace(s.heights(len(blocks))[0], blocks, len(messages))
		fill := trace.Fill
		trace.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			err := fill(ctx, ex, cells)
			for row := real; row < len(blocks); row++ {
				cells.Set(row, s.sponge.real(), 0)
			}
			return err
		}
		err := s.System.Check(t.Context(), executor.Serial(), []stark.Trace{trace}, about)
		must.Fail(t, err, zkbench.ErrWitness, "%s", where)
		if !strings.Contains(err.Error(), "a message ends "+where) {
			t.Errorf("%s: %v", where, err)
		}
		rejected(t, s.System, []stark.Trace{trace}, []stark.Statement{about}, where)
	}
}

// TestDigests: the tables state what they stated when they were last read with care: a constraint that
// is changed or left out is seen here.
func TestDigests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field    stark.Field
		messages stark.Visibility
		want     string
	}{
		{stark.KoalaBear, stark.Exposed, "9499111eb3a893a81e0db81c83bedd4d"},
		{stark.KoalaBear, stark.Public, "cb07e889277b0c802e3f00d319b742c8"},
		{stark.Goldilocks, stark.Exposed, "2fa49606f82d27598fbf9a6d107170d6"},
		{stark.Goldilocks, stark.Public, "0ffb6832a5047890fa440d79340a8876"},
	} {
		d := attacked(t, c.field, c.messages).Digest()
		golden.Equal(t, fmt.Sprintf("%s, %v", c.field, c.messages), c.want, hex.EncodeToString(d[:16]))
	}
}

// TestStatements: claims that are none are refused.
func TestStatements(t *testing.T) {
	t.Parallel()
	for _, messages := range []stark.Visibility{stark.Exposed, stark.Public} {
		public := messages == stark.Public
		s := attacked(t, stark.KoalaBear, messages)
		message := []byte("abc")
		if !public {
			message = nil
		}
		statement := must.Get(s.Statement([]Claim{{Length: 3, Message: message}}, []byte("about")))(t)
		golden.Equal(t, "what else a proof is bound to", "about", string(statement.Context))
		for name, claims := range map[string][]Claim{
			"none":                                  nil,
			"a negative length":                     {{Length: -1, Message: message}},
			"a length too large":                    {{Length: maxLength + 1, Message: message}},
			"another length":                        {{Length: 4, Message: []byte("abc")}},
			"a message that is not to be, or lacks": {{Length: 3, Message: map[bool][]byte{false: []byte("abc")}[public]}},
		} {
			_, err := s.Statement(claims, nil)
			must.Fail(t, err, zkbench.ErrParams, "public=%v, %s", public, name)
		}
		_, err := s.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{})
		must.Fail(t, err, zkbench.ErrParams, "public=%v, proof of nothing", public)
		must.Fail(t, s.Verify(nil, nil, nil), zkbench.ErrParams, "public=%v, claim of nothing", public)
	}
	s := attacked(t, stark.KoalaBear, stark.Exposed)
	must.Get(s.Statement([]Claim{{Length: maxLength}}, nil))(t)
	_, err := New(stark.Config{Field: stark.KoalaBear, Hash: stark.Poseidon, Params: stark.Compare100(stark.KoalaBear)}, stark.Exposed)
	must.Fail(t, err, zkbench.ErrParams, "a configuration that does not exist")
}

// TestHeights: tables are as high as their rows need, and what that costs and proves is told.
func TestHeights(t *testing.T) {
	t.Parallel()
	s := attacked(t, stark.KoalaBear, stark.Exposed)
	for blocks, want := range map[int]stark.Form{1: {64, 64}, 2: {64, 64}, 3: {128, 64}, 64: {2048, 64}, 65: {2048, 128}} {
		golden.Equal(t, fmt.Sprintf("heights for %d blocks", blocks), want, s.heights(blocks))
	}
	golden.Equal(t, "memory", must.Get(s.System.Memory([]int{2048, 128}))(t), must.Get(s.Memory(65))(t))
	p := must.Get(s.Security([]int{2048, 128}, 130))(t)
	golden.Equal(t, "bits", must.Get(p.Best())(t).Bits(), must.Get(s.Proved(65))(t).Bits())
	_, err := s.Proved(1 << 40)
	must.Fail(t, err, zkbench.ErrParams, "more blocks than the field has room for")
	golden.Equal(t, "columns over KoalaBear", []int{2473, 2516}, s.Widths())
	golden.Equal(t, "columns over Goldilocks", []int{2373, 2416}, attacked(t, stark.Goldilocks, stark.Exposed).Widths())
}

// refusing is an executor that only returns errors.
type refusing struct{ executor.Executor }

func (refusing) Do(context.Context, int, func(ctx context.Context, i int) error) error {
	return context.Canceled
}

// TestTraces: a trace fails where its executor does.
func TestTraces(t *testing.T) {
	t.Parallel()
	messages := [][]byte{[]byte("abc")}
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		s := attacked(t, field, stark.Exposed)
		statement := must.Get(s.Statement(Claims(messages, stark.Exposed), nil))(t)
		for table := range 2 {
			traces := s.Traces(messages)
			fill := traces[table].Fill
			traces[table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				return fill(ctx, refusing{ex}, cells)
			}
			err := s.System.Check(t.Context(), executor.Serial(), traces, statement)
			must.Fail(t, err, context.Canceled, "%s, table %d", field, table)
		}
	}
	permutations := must.Get(NewPermutationTable(config(stark.KoalaBear)))(t)
	must.FailGet(permutations.Statement(nil, nil))(t, zkbench.ErrParams, "no permutation")
	sponges := must.Get(NewSpongeTable(config(stark.KoalaBear), stark.Exposed))(t)
	must.Get(sponges.Statement([]Claim{{Length: 135}}, Permutations([][]byte{nil}), nil))(t)
	must.FailGet(sponges.Statement([]Claim{{Length: 136}}, Permutations([][]byte{nil}), nil))(t, zkbench.ErrParams, "a block that relies on no permutation")
	must.FailGet(sponges.Statement([]Claim{{Length: 3}}, nil, nil))(t, zkbench.ErrParams, "a claim that relies on no permutation")
	must.FailGet(sponges.Statement(nil, Permutations([][]byte{nil}), nil))(t, zkbench.ErrParams, "permutations of no claim")
}
