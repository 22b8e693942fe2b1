package group_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

var errHash = errors.New("no hash")

var smallTable = group.TableOptions{Window: 2, Spacing: 8}

// TestGenerators: every generator is the hash of its family's name and its index under a
// domain of its own, so nobody knows how two of them are related, and no other hash to the
// curve is one.
func TestGenerators(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	families := []group.Family{{Name: "a", Count: 2}, {Name: "ab", Count: 3}}
	basis := must.Get(group.NewBasis(g, families, smallTable))(t)
	at := 0
	for _, f := range families {
		golden.Equal(t, "start of family "+f.Name, at, basis.Offset(f.Name))
		for i := range f.Count {
			msg := append(binary.LittleEndian.AppendUint32(nil, uint32(len(f.Name))), f.Name...)
			want, err := bn254.HashToG1(binary.LittleEndian.AppendUint32(msg, uint32(i)), []byte("zkbench/v1/generators/BN254"))
			if err != nil || !basis.Points[at].Equal(&want) {
				t.Errorf("generator %s[%d] is %v, want %v (%v)", f.Name, i, basis.Points[at], want, err)
			}
			at++
		}
	}
	golden.Equal(t, "generators", basis.Len(), at)
	if !panics(func() { basis.Offset("none") }) {
		t.Error("a family that is not there has a place")
	}
}

// hashing is a group whose hash to the curve is another.
type hashing struct {
	group.Group[fr.Element, bn254.G1Affine]
	hash func(msg []byte) (bn254.G1Affine, error)
}

func (h hashing) HashToPoint(_ string, msg []byte) (bn254.G1Affine, error) { return h.hash(msg) }

// TestBasisRefuses: generators that are related, or are none.
func TestBasisRefuses(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	honest := func(msg []byte) (bn254.G1Affine, error) { return g.HashToPoint("test", msg) }
	last := func(msg []byte) byte { return msg[len(msg)-4] } // the index
	two := []group.Family{{Name: "a", Count: 3}}
	for name, c := range map[string]struct {
		families []group.Family
		hash     func(msg []byte) (bn254.G1Affine, error)
		want     error
	}{
		"good":         {two, honest, nil},
		"family twice": {append(two, two...), honest, zkbench.ErrParams},
		"empty family": {[]group.Family{{Name: "a"}}, honest, zkbench.ErrParams},
		"repeated":     {two, func(msg []byte) (bn254.G1Affine, error) { return honest([]byte{last(msg) % 2}) }, zkbench.ErrParams},
		"failing hash": {two, func(msg []byte) (p bn254.G1Affine, err error) { p, _ = honest(msg); return p, errHash }, errHash},
		"identity":     {[]group.Family{{Name: "a", Count: 1}}, func([]byte) (p bn254.G1Affine, err error) { return p, nil }, zkbench.ErrParams},
	} {
		if _, err := group.NewBasis(hashing{g, c.hash}, c.families, smallTable); !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestSmallTables: they are a third of the default's.
func TestSmallTables(t *testing.T) {
	t.Parallel()
	bytes := func(o group.TableOptions) int {
		return must.Get(group.NewBasis(group.BN254(), []group.Family{{Name: "small", Count: 2}}, o))(t).Table.Bytes()
	}
	golden.Equal(t, "bytes", bytes(group.TableOptions{})/3, bytes(group.SmallTables()))
}
