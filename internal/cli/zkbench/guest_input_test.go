package zkbench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload/guest"
)

// guestCode runs the command guest with arguments, and returns its code and standard error.
func guestCode(args ...string) (code int, stderr string) {
	var out, err bytes.Buffer
	code = Program().Run(append([]string{"guest"}, args...), strings.NewReader(""), &out, &err)
	return code, err.String()
}

// TestGuestWithoutInput: a guest of this module that fails for want of an input says how to make one, in run and in cost, and
// ends well with the input that is made so.
func TestGuestWithoutInput(t *testing.T) {
	testsize.Full(t)
	input := filepath.Join(t.TempDir(), "input")
	wants := 0
	for _, name := range guest.Names() {
		program := "../../../riscv/guests/" + strings.TrimSuffix(name, "-bigint")
		if name == "pairing-bigint" {
			continue // a build of pairing
		}
		made := "zkbench guest input " + name + " --output FILE makes one\n"
		code, stderr := guestCode("run", program)
		if code != cli.ExitOK {
			wants++
			golden.Equal(t, "code without an input", cli.ExitFailed, code)
			if !strings.HasSuffix(stderr, made) {
				t.Errorf("guest run %s without an input: %s\nwant at its end: %s", name, stderr, made)
			}
		}
		if name == "pairing" {
			code, stderr = guestCode("cost", program)
			golden.Equal(t, "code of cost", cli.ExitFailed, code)
			golden.Contains(t, stderr, "input: not three secrets of 32 bytes\n", "it had no --input: "+made)
			must.Do(t, os.WriteFile(input, []byte("short"), 0o600))
			_, stderr = guestCode("run", program, "--input", input)
			golden.Contains(t, stderr, "zkbench: guest: exit code 1\n")
		}
		code, stderr = guestCode("input", name, "--output", input)
		golden.Equal(t, "input of "+name+": "+stderr, cli.ExitOK, code)
		code, stderr = guestCode("run", program, "--input", input)
		golden.Equal(t, "run of "+name+": "+stderr, cli.ExitOK, code)
	}
	golden.Equal(t, "guests that want an input", 4, wants) // keccak and pedersen hash nothing as well
}

// TestGuestInput: an input is as large as it is asked for, and the same for each seed.
func TestGuestInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	input := func(args ...string) string {
		t.Helper()
		code, stderr := guestCode(append([]string{"input", "--output", path}, args...)...)
		golden.Equal(t, strings.Join(args, " ")+": "+stderr, cli.ExitOK, code)
		return string(must.Get(os.ReadFile(path))(t))
	}
	golden.Equal(t, "bytes of keccak", 7, len(input("keccak", "--size", "7")))
	golden.Equal(t, "bytes of keccak's own size", 1360, len(input("keccak")))
	golden.Equal(t, "bytes of three secrets", 96, len(input("pairing-bigint")))
	golden.Equal(t, "one seed", input("pairing"), input("pairing", "--seed", "1"))
	golden.Equal(t, "two seeds", false, input("pairing") == input("pairing", "--seed", "2"))
	for name, test := range map[string]struct {
		says string
		args []string
	}{
		"no guest":         {`guest: ""`, []string{"--output", path}},
		"an unknown guest": {`guest: "x" is not accepted; accepted: pairing, `, []string{"x", "--output", path}},
		"two guests":       {`guest: "keccak merkle"`, []string{"keccak", "merkle", "--output", path}},
		"no file":          {`output: ""`, []string{"keccak"}},
		"no such folder":   {"output: ", []string{"keccak", "--output", filepath.Join(path, "x")}},
		"too many bits":    {`size: "65" is not accepted; accepted: of bulletproof: 1 to 64`, []string{"bulletproof", "--output", path, "--size", "65"}},
		"no number":        {`size: "x"`, []string{"bulletproof", "--output", path, "--size", "x"}},
		"no seed":          {`seed: "-1"`, []string{"keccak", "--output", path, "--seed", "-1"}},
	} {
		code, stderr := guestCode(append([]string{"input"}, test.args...)...)
		golden.Equal(t, name, cli.ExitUsage, code)
		golden.Contains(t, stderr, test.says)
	}
}

// TestGuestNames: a guest of this module is known by where it is, and another program is not.
func TestGuestNames(t *testing.T) {
	for path, want := range map[string]string{
		"./riscv/guests/pairing":                     "pairing",
		"../../../riscv/guests/plonk/":               "plonk",
		"bin/zkbench-guests/pairing.bigint":          "pairing",
		"/opt/zkbench-guests/keccak.precompile":      "keccak",
		"./riscv/guests/frames":                      "",
		"./cmd/pairing":                              "",
		"pairing":                                    "",
		"./riscv/guests/pairing/internal/montgomery": "",
	} {
		golden.Equal(t, path, want, guest.NameOf(path))
	}
}
