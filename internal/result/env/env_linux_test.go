package env

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

func TestParseModel(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"arch=amd64", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: fpu\n", "AMD EPYC 9654"},
		{"arch=power", "processor\t: 0\ncpu\t\t: POWER9\n", "POWER9"},
		{"arch=none", "processor\t: 0\n", ""},
		{"arch=empty", "", ""},
	} {
		golden.Equal(t, test.name, test.want, parseModel([]byte(test.in)))
	}
}

func TestReadTellsMachine(t *testing.T) {
	e := Read()
	if e.Kernel == "" || e.Memory == 0 {
		t.Errorf("kernel %q, memory %d", e.Kernel, e.Memory)
	}
}
