package argument_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestAmong: few names are listed; of many those that may have been meant.
func TestAmong(t *testing.T) {
	few := []string{"new", "show", "check"}
	many := []string{"--curves", "--bits", "--num-inputs", "--num-outputs", "--executor", "--workers", "--duration", "--rate", "--samples", "--seed", "--slo"}
	for _, test := range []struct {
		typed string
		names []string
		want  string
	}{
		{"walk", few, "new, show, check"},
		{"--curve", many, "--curves; x --help lists all"},
		{"--cruves", many, "--curves; x --help lists all"},
		{"-curves", many, "--curves; x --help lists all"},
		{"--num-input", many, "--num-inputs; x --help lists all"},
		{"--num", many, "--num-inputs, --num-outputs; x --help lists all"},
		{"--BITS", many, "--bits; x --help lists all"},
		{"--rats", many, "--rate; x --help lists all"},
		{"-x", many, "the names that the command x --help shows"},
		{"--frobnicate", many, "the names that the command x --help shows"},
		{"", many, "the names that the command x --help shows"},
	} {
		golden.Equal(t, test.typed, test.want, argument.Among(test.typed, test.names, "x --help"))
	}
}
