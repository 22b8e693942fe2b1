// Command panurus measures LFDT-Panurus/panurus. The Go module proxy has this project under the
// name that it had before July 2026: github.com/hyperledger-labs/fabric-token-sdk, v0.12.1. The
// project's token driver zkatdlog, without graph hiding, makes, proves and validates the same
// transfers and issues as zkbench, on BN254 and BLS12-381, with range proofs by Bulletproofs or
// compressed sigma protocols. Cases with owner=pseudonym use the driver's pseudonyms (idemixnym).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/zkbench/zkbench/peers/go/contract"
)

func main() {
	os.Exit(contract.Serve(os.Args[1:], os.Stdout, os.Stderr, cases()))
}

// cases returns the cases for every curve, bit length and proof at two inputs and two outputs. For
// 64 bits and Bulletproofs it adds other numbers of inputs and outputs. The names are those of our
// own cases.
func cases() []contract.Case {
	var all []contract.Case
	for _, proof := range []string{"bulletproof", "csp"} {
		for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
			for _, bits := range []uint64{32, 64} {
				for _, n := range []int{1, 2, 4, 8} {
					if n == 2 || bits == 64 {
						all = append(all, transfers(shape{curve, proof, bits, n})...)
					}
				}
				all = append(all, issues(shape{curve, proof, bits, 2})...)
			}
		}
	}
	return all
}

// shape holds the parameters of a case. Transfers have n inputs and n outputs; issues have n
// outputs.
type shape struct {
	curve, proof string
	bits         uint64
	n            int
}

func (s shape) name(workload, inputs, more string) string {
	return fmt.Sprintf("%s/curve=%s/bits=%d%s/out=%d/proof=%s/exec=serial%s", workload, s.curve, s.bits, inputs, s.n, s.proof, more)
}

func transfers(s shape) []contract.Case {
	var all []contract.Case
	in := fmt.Sprintf("/in=%d", s.n)
	for _, c := range []struct {
		workload, more string
		op             func(*transferer) (func() error, int, error)
	}{
		{"TransferProofGeneration", "", (*transferer).prove},
		{"Sender", "", (*transferer).send},
		{"VerificationSenderProof", "", (*transferer).verify},
		{"ValidatorTransfer", "/owner=pseudonym", (*transferer).validate},
	} {
		all = append(all, contract.Case{Name: s.name(c.workload, in, c.more), Setup: func() (func() error, int, error) {
			t, err := newTransferer(s)
			if err != nil {
				return nil, 0, err
			}
			return c.op(t)
		}})
	}
	return all
}

func issues(s shape) []contract.Case {
	return []contract.Case{
		{Name: s.name("Issuer", "", ""), Setup: func() (func() error, int, error) { return issue(s) }},
		{Name: s.name("ProofVerificationIssuer", "", ""), Setup: func() (func() error, int, error) { return verifyIssue(s) }},
	}
}

// once runs op, which must succeed, and wrong, which must be rejected.
func once(op, wrong func() error) error {
	if err := op(); err != nil {
		return err
	}
	if wrong() == nil {
		return errors.New("an invalid input was accepted")
	}
	return nil
}

// testdata returns the directory in which the module keeps the issuers' keys and the owners'
// credentials, next to the source of the function at pc.
func testdata(pc uintptr) (string, error) {
	file, _ := runtime.FuncForPC(pc).FileLine(pc)
	dir := filepath.Join(filepath.Dir(filepath.Dir(file)), "testdata")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("built elsewhere, or with -trimpath: %w", err)
	}
	return dir, nil
}

// background is the context of every operation.
var background = context.Background()
