package keccak_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

func small(degree int) stark.Params {
	return stark.Params{Name: "test", Bits: stark.Unproven, Degree: degree, LogBlowup: 1, Queries: 4, Grinding: 2, Stack: 3, LogFold: 3, LogFinal: 3, LogCap: 2}
}

func TestHashes(t *testing.T) {
	t.Parallel()
	for _, c := range []stark.Config{
		{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2)},
		{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4)},
	} {
		for _, of := range []stark.Visibility{stark.Exposed, stark.Public} {
			t.Run(fmt.Sprintf("%s/%v", c.Field, of), func(t *testing.T) {
				t.Parallel()
				s, err := keccak.New(c, of)
				if err != nil {
					t.Fatal(err)
				}
				var messages [][]byte
				for _, n := range []int{0, 1, 135, 136, 137, 300} {
					messages = append(messages, bytes.Repeat([]byte{0xa5}, n))
				}
				proof, err := s.Prove(t.Context(), executor.Pool(), messages, []byte("context"), stark.Options{})
				if err != nil {
					t.Fatal(err)
				}
				claims := keccak.Claims(messages, of)
				must.Do(t, s.Verify(proof, claims, []byte("context")))
				must.Fail(t, s.Verify(proof, claims, []byte("another")), zkbench.ErrProof, "another context")
				claims[3].Digest[31] ^= 1
				must.Fail(t, s.Verify(proof, claims, []byte("context")), zkbench.ErrProof, "another digest")
			})
		}
	}
}
