package keccak_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/security"
)

// TestAlone: each table is proved alone over both fields, and neither's proof verifies for other states,
// other claims, or as what another system proves.
func TestAlone(t *testing.T) {
	t.Parallel()
	messages := [][]byte{[]byte("abc"), bytes.Repeat([]byte{0xa5}, 136)} // one block, and two
	claims, states, about := keccak.Claims(messages, stark.Exposed), keccak.Permutations(messages), []byte("context")
	for _, c := range []stark.Config{
		{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2)},
		{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4)},
	} {
		t.Run(string(c.Field), func(t *testing.T) {
			t.Parallel()
			both := must.Get(keccak.New(c, stark.Exposed))(t)
			permutations := must.Get(keccak.NewPermutationTable(c))(t)
			sponges := must.Get(keccak.NewSpongeTable(c, stark.Exposed))(t)
			ofBoth := must.Get(both.Prove(t.Context(), executor.Pool(), messages, about, stark.Options{}))(t)
			ofPermutations := must.Get(permutations.Prove(t.Context(), executor.Pool(), states, about, stark.Options{}))(t)
			ofSponges := must.Get(sponges.Prove(t.Context(), executor.Pool(), messages, about, stark.Options{}))(t)
			must.Do(t, permutations.Verify(ofPermutations, states, about))
			must.Do(t, sponges.Verify(ofSponges, claims, states, about))

			other := func(lane *uint64) { *lane ^= 1 << 63 }
			for name, states := range map[string][]keccak.States{
				"another state before": with(states, func(s []keccak.States) { other(&s[1].In[24]) }),
				"another state after":  with(states, func(s []keccak.States) { other(&s[1].Out[24]) }),
				"two are exchanged":    with(states, func(s []keccak.States) { s[0], s[1] = s[1], s[0] }),
				"the last is left out": states[:len(states)-1],
				"the first is missing": states[1:],
				"the last stands twice": append(slices.Clone(states),
					states[len(states)-1]),
			} {
				must.Fail(t, permutations.Verify(ofPermutations, states, about), zkbench.ErrProof, "permutations, %s", name)
				must.Fail(t, sponges.Verify(ofSponges, claims, states, about), ofAsMany(claims, states), "sponges, %s", name)
			}
			for name, claims := range map[string][]keccak.Claim{
				"another digest":         with(claims, func(c []keccak.Claim) { c[1].Digest[31] ^= 1 }),
				"another length":         with(claims, func(c []keccak.Claim) { c[0].Length++ }),
				"two are exchanged":      with(claims, func(c []keccak.Claim) { c[0], c[1] = c[1], c[0] }),
				"a message is left out":  claims[:1],
				"a message stands twice": append(slices.Clone(claims), claims[1]),
			} {
				must.Fail(t, sponges.Verify(ofSponges, claims, states, about), ofAsMany(claims, states), "sponges, %s", name)
			}
			must.Fail(t, both.Verify(ofBoth, claims, nil), zkbench.ErrProof, "both, another context")
			must.Fail(t, permutations.Verify(ofPermutations, states, nil), zkbench.ErrProof, "permutations, another context")
			must.Fail(t, sponges.Verify(ofSponges, claims, states, nil), zkbench.ErrProof, "sponges, another context")

			for _, proof := range [][]byte{ofSponges, ofBoth} {
				must.Fail(t, permutations.Verify(proof, states, about), must.ErrAny, "not of permutations")
			}
			for _, proof := range [][]byte{ofPermutations, ofBoth} {
				must.Fail(t, sponges.Verify(proof, claims, states, about), must.ErrAny, "not of sponges")
			}
			for _, proof := range [][]byte{ofPermutations, ofSponges} {
				must.Fail(t, both.Verify(proof, claims, about), must.ErrAny, "not of both")
			}
		})
	}
}

// TestParams: a configuration that is none is refused, and so is who proves nothing or has it verified.
func TestParams(t *testing.T) {
	t.Parallel()
	none := stark.Config{Field: "none", Hash: stark.Keccak, Params: small(4)}
	must.FailGet(keccak.New(none, stark.Exposed))(t, zkbench.ErrParams, "both over no field")
	must.FailGet(keccak.NewPermutationTable(none))(t, zkbench.ErrParams, "permutations over no field")
	must.FailGet(keccak.NewSpongeTable(none, stark.Exposed))(t, zkbench.ErrParams, "sponges over no field")
	c := stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4)}
	both := must.Get(keccak.New(c, stark.Exposed))(t)
	must.FailGet(both.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{}))(t, zkbench.ErrParams, "both of nothing")
	must.Fail(t, both.Verify(nil, nil, nil), zkbench.ErrParams, "both of nothing")
	permutations := must.Get(keccak.NewPermutationTable(c))(t)
	must.FailGet(permutations.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{}))(t, zkbench.ErrParams, "permutations of nothing")
	must.Fail(t, permutations.Verify(nil, nil, nil), zkbench.ErrParams, "permutations of nothing")
	sponges := must.Get(keccak.NewSpongeTable(c, stark.Exposed))(t)
	must.FailGet(sponges.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{}))(t, zkbench.ErrParams, "sponges of nothing")
	must.Fail(t, sponges.Verify(nil, nil, nil, nil), zkbench.ErrParams, "sponges of nothing")
}

// TestFigures: each system tells its own columns, memory and bits, and that it has no room for more.
func TestFigures(t *testing.T) {
	t.Parallel()
	c := stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: stark.Compare100(stark.KoalaBear)}
	type figures interface {
		Widths() []int
		Memory(blocks int) (uint64, error)
		Proved(blocks int) (security.Report, error)
	}
	// 170 permutations are 2^12 rows of one table, and 2^8 of the other.
	for name, system := range map[string]struct {
		figures
		widths []int
		mib    uint64
		bits   int
	}{
		"both":         {must.Get(keccak.New(c, stark.Exposed))(t), []int{2473, 2516}, 173, 56},
		"permutations": {must.Get(keccak.NewPermutationTable(c))(t), []int{2473}, 164, 57},
		"sponges":      {must.Get(keccak.NewSpongeTable(c, stark.Exposed))(t), []int{2516}, 10, 56},
	} {
		golden.Equal(t, name+", columns", system.widths, system.Widths())
		golden.Equal(t, name+", MiB", system.mib, must.Get(system.Memory(170))(t)>>20)
		golden.Equal(t, name+", bits", system.bits, must.Get(system.Proved(170))(t).Bits())
		must.FailGet(system.Memory(1<<30))(t, zkbench.ErrParams, "%s, memory of 2^30", name)
		must.FailGet(system.Proved(1<<30))(t, zkbench.ErrParams, "%s, bits of 2^30", name)
	}
}

// ofAsMany returns the error for a proof of other claims and permutations: ErrParams if there is not one
// permutation for each block.
func ofAsMany(claims []keccak.Claim, states []keccak.States) error {
	blocks := 0
	for _, c := range claims {
		blocks += hash.Blocks(c.Length)
	}
	if blocks != len(states) {
		return zkbench.ErrParams
	}
	return zkbench.ErrProof
}

// with returns a changed copy of a list.
func with[T any](list []T, change func(list []T)) []T {
	list = slices.Clone(list)
	change(list)
	return list
}
