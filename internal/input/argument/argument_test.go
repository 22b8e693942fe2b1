package argument_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestUnknown: few names are listed; of many those that may have been meant.
func TestUnknown(t *testing.T) {
	few := []string{"new", "show", "check"}
	many := []string{"--curves", "--bits", "--num-inputs", "--num-outputs", "--executor", "--workers", "--duration", "--rate", "--samples", "--seed", "--slo"}
	for _, test := range []struct {
		typed string
		names []string
		want  string
	}{
		{"walk", few, "accepted: new, show, check"},
		{"shaw", few, "did you mean show? accepted: new, show, check"},
		{"--curve", many, "did you mean --curves? accepted: the names that the command x --help shows"},
		{"--cruves", many, "did you mean --curves? accepted: the names that the command x --help shows"},
		{"-curves", many, "did you mean --curves? accepted: the names that the command x --help shows"},
		{"--num-input", many, "did you mean --num-inputs? accepted: the names that the command x --help shows"},
		{"--NUM", many, "did you mean --num-inputs or --num-outputs? accepted: the names that the command x --help shows"},
		{"--rats", many, "did you mean --rate? accepted: the names that the command x --help shows"},
		{"-x", many, "accepted: the names that the command x --help shows"},
		{"--frobnicate", many, "accepted: the names that the command x --help shows"},
		{"", many, "accepted: the names that the command x --help shows"},
	} {
		want := fmt.Sprintf("flag: %q is not accepted; %s", test.typed, test.want)
		golden.Equal(t, test.typed, want, argument.Unknown("flag", test.typed, test.names, "x --help").Error())
	}
}

// TestCanonical: case does not matter unless two names differ by it alone.
func TestCanonical(t *testing.T) {
	names := []string{"Pool", "pool", "BN254"}
	for typed, want := range map[string]string{"pool": "pool", "Pool": "Pool", "bn254": "BN254", "BN255": "BN255", "": ""} {
		golden.Equal(t, typed, want, argument.Canonical(typed, names))
	}
}
