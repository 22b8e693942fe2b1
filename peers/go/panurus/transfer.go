package main

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"

	math "github.com/IBM/mathlib"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/benchmark"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/crypto/rp"
	zkatdlog "github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/driver"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/token"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/transfer"
	"github.com/hyperledger-labs/fabric-token-sdk/token/core/zkatdlog/nogh/v1/validator"
	"github.com/hyperledger-labs/fabric-token-sdk/token/driver"
	"github.com/hyperledger-labs/fabric-token-sdk/token/services/identity/idemixnym"
	"github.com/hyperledger-labs/fabric-token-sdk/token/services/logging"
	ids "github.com/hyperledger-labs/fabric-token-sdk/token/token"
)

const tokenType = "ABC"

// configuration creates public parameters, a pseudonym, and the keys of an auditor and an issuer.
func configuration(s shape) (*benchmark.SetupConfiguration, error) {
	dir, err := testdata(reflect.ValueOf(benchmark.NewSetupConfigurationsWithParams).Pointer())
	if err != nil {
		return nil, err
	}
	curve := map[string]math.CurveID{"BN254": math.BN254, "BLS12_381_BBS_GURVY": math.BLS12_381_BBS_GURVY}[s.curve]
	proof := map[string]rp.ProofType{"bulletproof": rp.RangeProofType, "csp": rp.CSPRangeProofType}[s.proof]
	all, err := benchmark.NewSetupConfigurationsWithParams(benchmark.SetupParams{
		IdemixTestdataPath: dir, Bits: []uint64{s.bits}, CurveIDs: []math.CurveID{curve},
		OwnerIdentityType: idemixnym.IdentityType, ProofType: proof,
	})
	if err != nil {
		return nil, err
	}
	return all.GetSetupConfiguration(s.bits, curve)
}

// amounts draws n values from a fixed seed. Their sum fits in the shape's bits.
func (s shape) amounts() []uint64 {
	draw := rand.New(rand.NewChaCha8([32]byte{byte(s.n)}))
	values := make([]uint64, s.n)
	for i := range values {
		values[i] = draw.Uint64() >> (64 - s.bits + 4)
	}
	return values
}

// transferer has tokens and transfers them to the same number of new tokens with the same values.
type transferer struct {
	*benchmark.SetupConfiguration
	sender *transfer.Sender
	values []uint64
	owners [][]byte
}

func newTransferer(s shape) (*transferer, error) {
	conf, err := configuration(s)
	if err != nil {
		return nil, err
	}
	t := &transferer{SetupConfiguration: conf, values: s.amounts()}
	points, openings, err := token.GetTokensWithWitness(t.values, tokenType, conf.PP.PedersenGenerators, math.Curves[conf.PP.Curve])
	if err != nil {
		return nil, err
	}
	var (
		signers []driver.Signer
		tokens  []*token.Token
		at      []*ids.ID
	)
	for i, p := range points {
		signers = append(signers, conf.OwnerIdentity.Signer)
		tokens = append(tokens, &token.Token{Data: p, Owner: conf.OwnerIdentity.ID})
		at = append(at, &ids.ID{TxId: strconv.Itoa(i)})
		t.owners = append(t.owners, conf.OwnerIdentity.ID)
	}
	t.sender, err = transfer.NewSender(signers, tokens, at, openings, conf.PP)
	return t, err
}

// action creates, proves and encodes a transfer.
func (t *transferer) action() (*transfer.Action, []byte, error) {
	action, _, err := t.sender.GenerateZKTransfer(background, t.values, t.owners)
	if err != nil {
		return nil, nil, err
	}
	raw, err := action.Serialize()
	return action, raw, err
}

// check decodes a transfer and verifies its proof. If outputs is not nil, it verifies the proof for
// these outputs instead.
func (t *transferer) check(raw []byte, outputs []*math.G1) error {
	action := new(transfer.Action)
	if err := action.Deserialize(raw); err != nil {
		return err
	}
	inputs := make([]*math.G1, len(action.Inputs))
	for i, in := range action.Inputs {
		inputs[i] = in.Token.Data
	}
	if outputs == nil {
		outputs = action.GetOutputCommitments()
	}
	return transfer.NewVerifier(inputs, outputs, t.PP, action.ProofType).Verify(action.GetProof())
}

// prove times the proof alone.
func (t *transferer) prove() (func() error, int, error) {
	action, raw, err := t.action()
	if err != nil {
		return nil, 0, err
	}
	inputs := make([]*math.G1, len(t.sender.Inputs))
	for i, in := range t.sender.Inputs {
		inputs[i] = in.Data
	}
	outputs, openings, err := token.GetTokensWithWitness(t.values, tokenType, t.PP.PedersenGenerators, math.Curves[t.PP.Curve])
	if err != nil {
		return nil, 0, err
	}
	return func() error {
		prover, err := transfer.NewProver(t.sender.InputInformation, openings, inputs, outputs, t.PP)
		if err != nil {
			return err
		}
		_, err = prover.Prove()
		return err
	}, len(action.GetProof()), t.check(raw, nil)
}

// send times creating, proving and encoding a transfer.
func (t *transferer) send() (func() error, int, error) {
	action, raw, err := t.action()
	if err != nil {
		return nil, 0, err
	}
	return func() error {
		_, _, err := t.action()
		return err
	}, len(action.GetProof()), t.check(raw, nil)
}

// verify times decoding a transfer and verifying its proof.
func (t *transferer) verify() (func() error, int, error) {
	action, raw, err := t.action()
	if err != nil {
		return nil, 0, err
	}
	other, _, err := t.action()
	if err != nil {
		return nil, 0, err
	}
	op := func() error { return t.check(raw, nil) }
	return op, len(action.GetProof()), once(op, func() error { return t.check(raw, other.GetOutputCommitments()) })
}

// validate times a validator on an encoded request, which has one transfer, the signatures of its
// owners and that of the auditor.
func (t *transferer) validate() (func() error, int, error) {
	const anchor = "1"
	action, raw, err := t.action()
	if err != nil {
		return nil, 0, err
	}
	request := &driver.TokenRequest{Transfers: [][]byte{raw}}
	message, err := request.MarshalToMessageToSign([]byte(anchor))
	if err != nil {
		return nil, 0, err
	}
	auditor, err := t.AuditorSigner.Serialize()
	if err != nil {
		return nil, 0, err
	}
	signature, err := t.AuditorSigner.Sign(message)
	if err != nil {
		return nil, 0, err
	}
	request.AuditorSignatures = []*driver.AuditorSignature{{Identity: auditor, Signature: signature}}
	if request.Signatures, err = t.sender.SignTokenActions(message); err != nil {
		return nil, 0, err
	}
	encoded, err := request.Bytes()
	if err != nil {
		return nil, 0, err
	}
	deserializer, err := zkatdlog.NewDeserializer(t.PP)
	if err != nil {
		return nil, 0, err
	}
	// The usual logger takes its name from its caller's package and fails for main.
	engine := validator.New(logging.DriverLogger("zkbench", "", "", ""), t.PP, deserializer, nil, nil, nil)
	check := func(anchor driver.TokenRequestAnchor) error {
		actions, _, err := engine.VerifyTokenRequestFromRaw(background, nil, anchor, encoded)
		if err == nil && len(actions) != 1 {
			return fmt.Errorf("%d actions, want one", len(actions))
		}
		return err
	}
	op := func() error { return check(anchor) }
	return op, len(action.GetProof()), once(op, func() error { return check(anchor + "1") })
}
