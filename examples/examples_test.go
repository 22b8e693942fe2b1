// Package examples runs the examples as their reader does.
package examples

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCommands: the commands of README.md, and each prover of another language.
func TestCommands(t *testing.T) {
	for _, test := range []struct{ needs, command, want string }{
		{"", "run ./hash run keccak256 sha256 --bytes 136,1360 --duration 50ms", "Keccak256"},
		{"", "run ./circuit stages preimage --blocks 1 --system plonk,groth16", "groth16"},
		{"python3", "run ./hash exec prover/python.yaml --stage prove,verify --duration 50ms", "PythonHash"},
		{"openssl", "run ./hash exec prover/commands.yaml --stage prove,verify --duration 50ms", "OpensslHash"},
		{"cargo", "run ./hash exec prover/rust.yaml --stage prove,verify --duration 50ms", "RustHash"},
	} {
		t.Run(test.command, func(t *testing.T) {
			if _, err := exec.LookPath(test.needs); test.needs != "" && err != nil {
				t.Skipf("%s is not there", test.needs)
			}
			out, err := exec.CommandContext(t.Context(), "go", strings.Fields(test.command)...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), test.want) || strings.Contains(string(out), "unchecked") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
