package main

import (
	math "github.com/IBM/mathlib"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/benchmark"
	issuance "github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/issue"
)

// newIssue creates, proves and encodes an issue.
func newIssue(conf *benchmark.SetupConfiguration, values []uint64) (*issuance.Action, []byte, error) {
	owners := make([][]byte, len(values))
	for i := range owners {
		owners[i] = conf.OwnerIdentity.ID
	}
	action, _, err := issuance.NewIssuer(tokenType, conf.IssuerSigner, conf.PP).GenerateZKIssue(values, owners)
	if err != nil {
		return nil, nil, err
	}
	raw, err := action.Serialize()
	return action, raw, err
}

// checkIssue decodes an issue and verifies its proof. If other is not nil, it verifies the proof
// for other's outputs instead.
func checkIssue(conf *benchmark.SetupConfiguration, raw []byte, other *issuance.Action) error {
	action := new(issuance.Action)
	if err := action.Deserialize(raw); err != nil {
		return err
	}
	if other == nil {
		other = action
	}
	outputs := make([]*math.G1, len(other.Outputs))
	for i, out := range other.Outputs {
		outputs[i] = out.Data
	}
	return issuance.NewVerifier(outputs, conf.PP).Verify(action.GetProof())
}

// issue times creating, proving and encoding an issue.
func issue(s shape) (func() error, int, error) {
	conf, err := configuration(s)
	if err != nil {
		return nil, 0, err
	}
	action, raw, err := newIssue(conf, s.amounts())
	if err != nil {
		return nil, 0, err
	}
	return func() error {
		_, _, err := newIssue(conf, s.amounts())
		return err
	}, len(action.GetProof()), checkIssue(conf, raw, nil)
}

// verifyIssue times decoding an issue and verifying its proof.
func verifyIssue(s shape) (func() error, int, error) {
	conf, err := configuration(s)
	if err != nil {
		return nil, 0, err
	}
	action, raw, err := newIssue(conf, s.amounts())
	if err != nil {
		return nil, 0, err
	}
	other, _, err := newIssue(conf, s.amounts())
	if err != nil {
		return nil, 0, err
	}
	op := func() error { return checkIssue(conf, raw, nil) }
	return op, len(action.GetProof()), once(op, func() error { return checkIssue(conf, raw, other) })
}
