package identity_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
)

// everybody is an Ed25519 signer whose identity is the point of order 1.
type everybody struct{ identity.Signer }

func (everybody) Identity() identity.Identity {
	return append(identity.Identity{byte(identity.TypeEd25519), 1}, make([]byte, 31)...)
}

// TestAnybodySigns: keys of small order are told, and enrol nobody.
func TestAnybodySigns(t *testing.T) {
	seed := sha256.Sum256([]byte("somebody"))
	signer := must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
	set := must.Get(identity.NewSet(4, nil))(t)
	for _, test := range []struct {
		id   identity.Identity
		want bool
	}{
		{signer.Identity(), false},
		{everybody{}.Identity(), true},
		{append(identity.Identity{byte(identity.TypeEd25519)}, make([]byte, 32)...), true}, // y = 0, of order 4
	} {
		v := must.Get(set.Verifier(test.id))(t)
		golden.Equal(t, fmt.Sprintf("anybody signs for %x", test.id), test.want, identity.AnybodySigns(v))
	}

	scheme := must.Get(identity.NewScheme("BN254"))(t)
	holder := must.Get(scheme.NewHolder(nil))(t)
	request := must.Get(holder.Request("name", nil))(t)
	must.FailGet(scheme.Enrol("name", request, everybody{signer}))(t, zkbench.ErrParams, "enrolled by everybody")
	if _, err := scheme.Enrol("name", request, signer); err != nil {
		t.Errorf("enrolled by somebody: %v", err)
	}
}
