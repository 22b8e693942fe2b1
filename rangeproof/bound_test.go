package rangeproof_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/faulttest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/transcript"
)

var errSeen = errors.New("seen")

// seen records the arguments of a protocol's prover.
type seen struct {
	state  [transcript.StateLen]byte
	nonces transcript.Nonces
}

// watched is a protocol whose prover returns after recording its arguments, and whose verifier
// records its weights or refuses.
type watched struct {
	bnProtocol
	given  *seen
	drawn  *[]scalar
	refuse error
}

func (w watched) Replay(t *transcript.Transcript, V []point, proof *bnProof) (rangeproof.Equations[scalar, point], error) {
	if _, err := w.bnProtocol.Replay(t, V, proof); err != nil {
		return nil, err
	}
	return recorder{w.drawn}, w.refuse
}

func (w watched) Prove(_ context.Context, _ executor.Executor, t *transcript.Transcript, _ []point, _ bnWitness, nonces transcript.Nonces) (*bnProof, error) {
	*w.given = seen{t.State(), nonces}
	return nil, errSeen
}

// renamed is a group under another name.
type renamed struct {
	group.Group[scalar, point]
}

func (renamed) Domain() string { return "another" }

// aggregate returns a basis for four values of 9 bits, and the protocol over it.
func aggregate(t *testing.T, bits int) (*bnBasis, bnProtocol) {
	t.Helper()
	families := append(rangeproof.KeyFamilies(), bulletproof.Families(9, 4, bulletproof.DefaultStop)...)
	basis := must.Get(group.NewBasis(group.BN254(), families, group.TableOptions{Window: 2, Spacing: 8}))(t)
	p := must.Get(bulletproof.New(basis, bulletproof.Config{Bits: bits, MaxCommitments: 4}))(t)
	return basis, p
}

// TestSystemBinds: what a proof starts from depends on group, generators, parameters, number of
// commitments and context, and on nothing else; its nonces on all 32 random bytes.
func TestSystemBinds(t *testing.T) {
	t.Parallel()
	basis, protocol := aggregate(t, 8)
	given := new(seen)
	start := func(b *bnBasis, p bnProtocol, context string, m int, seed byte) seen {
		t.Helper()
		random := append(make([]byte, 31), seed)
		if _, _, err := rangeproof.NewSystem(b, watched{bnProtocol: p, given: given}).Prove(ctx, serial, []byte(context), make([]uint64, m), blindings(m), bytes.NewReader(random)); !errors.Is(err, errSeen) {
			t.Fatal(err)
		}
		return *given
	}
	base := start(basis, protocol, "context", 1, 0)
	if base.nonces.Protocol != protocol.Name() || base.nonces.Label == "" {
		t.Errorf("nonces are named %q, %q", base.nonces.Protocol, base.nonces.Label)
	}
	if again := start(basis, protocol, "context", 1, 1); again.state != base.state || again.nonces.Seed == base.nonces.Seed {
		t.Errorf("another seed gives another state, or the same nonces")
	}
	other, elsewhere := *basis, *basis
	other.Points = append([]point(nil), basis.Points...)
	other.Points[len(other.Points)-1].Neg(&other.Points[0])
	elsewhere.Group = renamed{basis.Group}
	_, nine := aggregate(t, 9)
	digest := transcript.New("rangeproof/params")
	digest.Append("group", []byte("BN254"))
	protocol.AppendParams(&digest)
	digest.Append("generators", basis.Group.AppendPoints(nil, basis.Points...))
	state := digest.State()
	want := transcript.New("rangeproof")
	want.Append("params", state[:])
	want.AppendUint64("commitments", 1)
	want.Append("context", []byte("context"))
	if want.State() != base.state {
		t.Error("the transcript does not start as it is written down")
	}
	states := map[[transcript.StateLen]byte]string{base.state: "base"}
	for name, got := range map[string]seen{
		"context":    start(basis, protocol, "other", 1, 0),
		"count":      start(basis, protocol, "context", 2, 0),
		"generators": start(&other, protocol, "context", 1, 0),
		"group":      start(&elsewhere, protocol, "context", 1, 0),
		"parameters": start(basis, nine, "context", 1, 0),
	} {
		if same, dup := states[got.state]; dup {
			t.Errorf("another %s starts like another %s", name, same)
		}
		states[got.state] = name
	}
}

// TestSystemWeights: weights depend on the last byte of every proof, and a proof that the protocol
// refuses is refused with its error, whatever its equations say.
func TestSystemWeights(t *testing.T) {
	system := rand.Reader
	defer func() { rand.Reader = system }()
	rand.Reader = random(0)
	basis, protocol := aggregate(t, 4)
	commitments, proof := proved(t, rangeproof.NewSystem(basis, protocol), nil, 1)
	verify := func(w watched, last byte) error {
		other := bytes.Clone(proof)
		other[len(other)-1] ^= last
		s := rangeproof.NewSystem(basis, w)
		c := must.Get(s.Decode(nil, 1, commitments, other))(t)
		return s.Verify(ctx, serial, c)
	}
	var drawn []scalar
	for last := range byte(2) {
		if err := verify(watched{bnProtocol: protocol, drawn: &drawn}, last); !errors.Is(err, zkbench.ErrProof) {
			t.Error(err)
		}
	}
	if len(drawn) != 4 || drawn[0] == drawn[2] || drawn[1] == drawn[3] {
		t.Errorf("weights of two proofs: %v", drawn)
	}
	if err := verify(watched{bnProtocol: protocol, drawn: &drawn, refuse: errSeen}, 0); !errors.Is(err, errSeen) || len(drawn) != 4 {
		t.Errorf("a refused proof: %v", err)
	}
	for _, m := range []int{-1, 0, 5} {
		must.FailGet(rangeproof.NewSystem(basis, protocol).Decode(nil, m, nil, nil))(t, zkbench.ErrParams, "%d commitments", m)
	}
}

// TestNothingIsAcceptedUnchecked: a fault of the executor, at whatever step, is an error and
// neither a proof nor a verdict.
func TestNothingIsAcceptedUnchecked(t *testing.T) {
	t.Parallel()
	basis, protocol := aggregate(t, 4)
	s := rangeproof.NewSystem(basis, protocol)
	var commitments, proof []byte
	must.Do(t, faulttest.Each(t, serial, func(ex executor.Executor) (err error) {
		commitments, proof, err = s.Prove(ctx, ex, nil, []uint64{1, 2}, blindings(2), nil)
		return err
	}))
	var claims []rangeproof.Claim
	for _, context := range []string{"", "", "wrong", ""} {
		claims = append(claims, must.Get(s.Decode([]byte(context), 2, commitments, proof))(t))
	}
	must.Do(t, faulttest.Each(t, serial, func(ex executor.Executor) error { return s.Verify(ctx, ex, claims[:2]...) }), "good proofs")
	for _, wrong := range [][]rangeproof.Claim{claims, {claims[2], claims[0]}} {
		for width := 1; width <= 4; width++ {
			must.Fail(t, faulttest.Each(t, wide{serial, width}, func(ex executor.Executor) error { return s.Verify(ctx, ex, wrong...) }), must.ErrAny, "width %d", width)
		}
	}
}

// TestNothingIsAcceptedUncheckedInParts: the same on executors that cut the claims into parts, with the bad claim in each of
// them in turn; and a context that ends, at whatever step, is an error.
func TestNothingIsAcceptedUncheckedInParts(t *testing.T) {
	t.Parallel()
	basis, protocol := aggregate(t, 4)
	s := rangeproof.NewSystem(basis, protocol)
	commitments, proof := proved(t, s, nil, 1, 2)
	good, wrong := must.Get(s.Decode(nil, 2, commitments, proof))(t), must.Get(s.Decode([]byte("wrong"), 2, commitments, proof))(t)
	for _, width := range []int{1, 2, 3} {
		claims := slices.Repeat([]rangeproof.Claim{good}, 4*width)
		calls, err := exectest.EachRefused(t, exectest.Wide(width), func(ex executor.Executor) error { return s.Verify(ctx, ex, claims...) })
		must.Do(t, err)
		asked, err := exectest.EachEnded(t, exectest.Wide(width), func(ctx context.Context, ex executor.Executor) error { return s.Verify(ctx, ex, claims...) })
		must.Do(t, err)
		if calls < 3 || asked < 4*width {
			t.Errorf("width %d: only %d calls, asked only %d times", width, calls, asked)
		}
		for i := range claims {
			claims[i] = wrong
			err := s.Verify(ctx, exectest.Wide(width), claims...)
			if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Action != i {
				t.Errorf("width %d, claim %d is wrong: %v", width, i, err)
			}
			claims[i] = good
		}
	}
}
