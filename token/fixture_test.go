package token

import (
	"context"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/transcript"
)

// cheap keeps tables small: most tests use parameters a few times only.
var cheap = group.TableOptions{Window: 4, Spacing: 8}

func newTestParams(t testing.TB, cfg Config) CryptoParams {
	t.Helper()
	return newTunedParams(t, cfg, Tuning{Table: cheap})
}

func newTunedParams(t testing.TB, cfg Config, tuning Tuning) CryptoParams {
	t.Helper()
	return must.Get(NewCryptoParams(cfg, tuning))(t)
}

// proofs returns the methods with which package action proves and verifies.
func proofs(pp CryptoParams) statement.ProofSystem[Opening] {
	return pp.(statement.ProofSystem[Opening])
}

// bnParams are parameters whose inside a test may touch.
type bnParams = params[fr.Element, bn254.G1Affine]

func newBN(t testing.TB, cfg Config) *bnParams {
	t.Helper()
	cfg.Curve = "BN254"
	return newTestParams(t, cfg).(*bnParams)
}

type (
	Statement = statement.Statement
	Field     = statement.Field
	Claim     = statement.Claim
	Witness   = witness
)

// example is a statement with its witness.
type example struct {
	st Statement
	w  Witness
}

// seeded fills n bytes from a label.
func seeded(n int, label string) []byte {
	b := make([]byte, n)
	_, _ = transcript.XOF("zkbench/v1/test", []byte(label)).Read(b)
	return b
}

// deriver are parameters of any group.
type deriver interface {
	deriveBlindings(seed [transcript.SeedLen]byte, kind Kind, witness, anchor []byte, n int) [][]byte
}

// newExample makes a transfer of inputs to outputs, or an issue of outputs where
// inputs is nil, with everything derived from label.
func newExample(t testing.TB, pp CryptoParams, label string, inputs, outputs []uint64) *example {
	t.Helper()
	e := &example{st: Statement{Anchor: seeded(16, "context "+label), Action: seeded(40, "action "+label)}}
	copy(e.w.Seed[:], seeded(32, "seed "+label))
	open := func(values []uint64, label string) ([]Opening, []Field) {
		openings := make([]Opening, len(values))
		var seed [transcript.SeedLen]byte
		copy(seed[:], seeded(32, label))
		for i, b := range pp.(deriver).deriveBlindings(seed, kindOf(len(inputs)), nil, nil, len(values)) {
			openings[i] = Opening{Type: "USD", Value: values[i], Blinding: b}
		}
		commitments := must.Get(pp.Commit(context.Background(), executor.Serial(), openings))(t)
		fields := make([]Field, len(values))
		for i := range fields {
			fields[i].Bytes = commitments[i]
		}
		return openings, fields
	}
	e.w.Inputs, e.st.Inputs = open(inputs, "inputs "+label)
	e.w.Outputs, e.st.Outputs = open(outputs, "outputs "+label)
	return e
}

func (e *example) prove(t testing.TB, pp CryptoParams) []byte {
	t.Helper()
	proof := must.Get(proofs(pp).Prove(context.Background(), executor.Serial(), &e.st, &e.w))(t)
	golden.Equal(t, "bytes of the proof, by ProofLen", pp.ProofLen(len(e.st.Inputs), len(e.st.Outputs)), len(proof))
	return proof
}

func check(pp CryptoParams, st *Statement, proof []byte) error {
	claim, err := proofs(pp).Decode(st, Field{Bytes: proof})
	if err != nil {
		return err
	}
	return proofs(pp).Verify(context.Background(), executor.Serial(), claim)
}

// cloned returns a copy of the statement that a test may change.
func cloned(st *Statement) *Statement {
	c := *st
	c.Anchor = append([]byte(nil), st.Anchor...)
	c.Action = append([]byte(nil), st.Action...)
	c.Inputs = append([]Field(nil), st.Inputs...)
	c.Outputs = append([]Field(nil), st.Outputs...)
	return &c
}
