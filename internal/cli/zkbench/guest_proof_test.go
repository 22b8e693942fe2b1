package zkbench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	calls "github.com/zkbench/zkbench/riscv/call"
)

// files has the paths of files in a folder of the test.
type files struct {
	t   *testing.T
	dir string
}

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

func (f files) write(name string, data []byte) {
	f.t.Helper()
	must.Do(f.t, os.WriteFile(f.path(name), data, 0o600))
}

// guest runs a command of guest, which must end with an exit code. Words that are files' names stand for their paths.
func (f files) guest(code int, words string) (stdout, stderr string) {
	f.t.Helper()
	args := []string{"guest"}
	for word := range strings.FieldsSeq(words) {
		if !strings.HasPrefix(word, "-") && filepath.Ext(word) != "" {
			word = f.path(word)
		}
		args = append(args, word)
	}
	got, stdout, stderr := call(args...)
	if got != code {
		f.t.Errorf("%s: exit code %d, want %d: %s", words, got, code, stderr)
	}
	return stdout, stderr
}

// bare returns a program that executes instructions, and then ends with an exit code.
func bare(flags uint32, code int32, words ...uint32) []byte {
	words = append(words, rv.Addi(10, 0, code), rv.Addi(17, 0, 93), rv.Ecall)
	return rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: flags, Data: rv.Text(words...)})
}

// host returns a call of the host.
func host(number uint32) []uint32 {
	return []uint32{rv.Lui(17, number), rv.Addi(17, 17, int32(number&0xfff)), rv.Ecall}
}

// echo returns a program that commits to its input.
func echo(code int32) []byte {
	return bare(5, code, append(host(calls.Input), host(calls.Commit)...)...)
}

// TestGuestProof: what guest prove proves holds for guest verify, which shows the same. A proof of something else does not
// hold, and what is no proof is refused.
func TestGuestProof(t *testing.T) {
	f := files{t, t.TempDir()}
	const message = "what the output is"
	f.write("echo.elf", echo(0))
	f.write("other.elf", echo(1))
	f.write("in.txt", []byte(message))
	f.write("wrong.txt", []byte(message+"!"))

	proved, phases := f.guest(cli.ExitOK, "prove echo.elf --input in.txt --out proof.bin --context asked")
	var names []string
	for line := range strings.Lines(phases) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	golden.Equal(t, "phases", "execute trace commit sums quotient open fri queries", strings.Join(names, " "))
	for _, want := range []string{"proof.bin: ", " proved bits, in ", "\nrun: 9 cycles, exit code 0\n", "\ninput: 18 bytes, digest ", "\noutput: 18 bytes\n"} {
		golden.Contains(t, proved, want)
	}
	key := regexp.MustCompile(`key ([0-9a-f]{64})`).FindStringSubmatch(proved)[1]

	verified, _ := f.guest(cli.ExitOK, "verify proof.bin --program echo.elf --input in.txt --context asked --output out.txt")
	golden.Equal(t, "output", message, string(must.Get(os.ReadFile(f.path("out.txt")))(t)))
	_, says, _ := strings.Cut(proved, "\n")
	_, saysToo, _ := strings.Cut(verified, "\n")
	golden.Equal(t, "what the proof says", says, saysToo)
	golden.Equal(t, "verified", true, strings.HasPrefix(verified, "ok: "+f.path("proof.bin")+" holds\n"))
	verified, _ = f.guest(cli.ExitOK, "verify proof.bin --program "+key+" --context asked")
	golden.Contains(t, verified, "\nnot checked: which input it was; --input FILE compares it\n")

	proof := must.Get(os.ReadFile(f.path("proof.bin")))(t)
	f.write("tampered.bin", bytes.Replace(proof, []byte(message), []byte("What the output is"), 1))
	f.write("cut.bin", proof[:len(proof)/2])
	for _, test := range []struct {
		code        int
		words, says string
	}{
		{cli.ExitFailed, "verify tampered.bin --program echo.elf --context asked", "tampered.bin: proof rejected: "},
		{cli.ExitUsage, "verify cut.bin --program echo.elf --context asked", "cut.bin: malformed encoding: proof."},
		{cli.ExitFailed, "verify proof.bin --program other.elf --context asked", "proof rejected: of another program"},
		{cli.ExitFailed, "verify proof.bin --program " + strings.Repeat("0", 64) + " --context asked", "proof rejected: of another program"},
		{cli.ExitFailed, "verify proof.bin --program echo.elf --context asked --input wrong.txt", "proof rejected: of another input"},
		{cli.ExitFailed, "verify proof.bin --program echo.elf --context other", "proof rejected: "},
		{cli.ExitFailed, "verify proof.bin --program echo.elf --context asked --exit 1", "proof rejected: the program ended with code 0, accepted is 1"},
		{cli.ExitUsage, "verify proof.bin --program " + key[1:], "program: "},
		{cli.ExitUsage, "verify proof.bin", `program: "" is not accepted; accepted: an ELF file`},
		{cli.ExitUsage, "verify --program echo.elf", "accepted: the path of a file that guest prove has written"},
		{cli.ExitUsage, "verify none.bin --program echo.elf", "proof: open "},
		{cli.ExitUsage, "verify echo.elf --program echo.elf", "malformed encoding: version at byte "},
		{cli.ExitUsage, "verify proof.bin --program echo.elf --output nowhere/out.txt", "output: "},
		{cli.ExitUsage, "verify proof.bin --program echo.elf --exit -1", `exit: "-1" is not accepted`},
		{cli.ExitUsage, "prove echo.elf --input in.txt --out proof.bin", "accepted: the path of a file that does not exist"},
	} {
		stdout, stderr := f.guest(test.code, test.words)
		golden.Contains(t, stderr, test.says)
		if stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %q and %q, want one line on stderr", test.words, stdout, stderr)
		}
	}
}

// TestGuestProofExit: a run that ends with another exit code than 0 has a proof if that code is asked for.
func TestGuestProofExit(t *testing.T) {
	f := files{t, t.TempDir()}
	f.write("one.elf", echo(1))
	_, stderr := f.guest(cli.ExitFailed, "prove one.elf --out proof.bin")
	golden.Contains(t, stderr, "guest: exit code 1; this run has a proof with --exit 1")
	f.guest(cli.ExitOK, "prove one.elf --out proof.bin --exit 1 --hash poseidon")
	_, stderr = f.guest(cli.ExitFailed, "verify proof.bin --program one.elf")
	golden.Contains(t, stderr, "the program ended with code 1, accepted is 0")
	stdout, _ := f.guest(cli.ExitOK, "verify proof.bin --program one.elf --exit 1")
	golden.Contains(t, stdout, "exit code 1\n")
	// The code is all of register a0, and not its lowest byte.
	for code, exit := range map[int32]string{-1: "18446744073709551615", 259: "259"} {
		f.write("other.elf", bare(5, code))
		_, stderr := f.guest(cli.ExitFailed, "prove other.elf --out other.bin")
		golden.Contains(t, stderr, fmt.Sprintf("guest: exit code %d; this run has a proof with --exit %s", code, exit))
		f.guest(cli.ExitOK, "prove other.elf --out "+exit+".bin --exit "+exit)
	}
}

// TestGuestUnproved: what has no proof is refused by name before anything is proved.
func TestGuestUnproved(t *testing.T) {
	f := files{t, t.TempDir()}
	f.write("echo.elf", echo(0))
	f.write("writable.elf", bare(7, 0))
	f.write("narrow.elf", rv.ELF(32, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(rv.Ecall)}))
	f.write("counter.elf", bare(5, 0, 0xc0002573)) // rdcycle a0
	f.write("endless.elf", bare(5, 0, rv.Jal(0, 0)))
	f.write("precompile.elf", bare(5, 0, host(calls.Own)...))
	f.write("ignores.elf", bare(5, 0))
	f.write("large.bin", make([]byte, 4<<20))
	refused := func(code int, words, says string) {
		t.Helper()
		_, stderr := f.guest(code, words)
		golden.Contains(t, stderr, says)
		if strings.Contains(stderr, "trace:") {
			t.Errorf("%s: the tables were filled: %s", words, stderr)
		}
	}
	refused(cli.ExitUsage, "prove large.bin --out proof.bin", "large.bin: malformed encoding: elf at byte 0: no ELF file")
	refused(cli.ExitUsage, "prove narrow.elf --out proof.bin", "narrow.elf: ")
	refused(cli.ExitUsage, "prove writable.elf --out proof.bin", "writable.elf: ")
	refused(cli.ExitUsage, "prove counter.elf --out proof.bin", "the instruction at 0x10000 is not one of RV64IM")
	refused(cli.ExitFailed, "prove endless.elf --out proof.bin", "out of cycles at 0x10000")
	refused(cli.ExitUsage, "prove precompile.elf --out proof.bin", "call 0x7a6b1000 at 0x10008 is not proved")
	refused(cli.ExitUsage, "prove ignores.elf --input large.bin --out proof.bin", "input: limit exceeded: bytes: 4194304, at most 917441 accepted")
	refused(cli.ExitUsage, "prove none.elf --out proof.bin", "program: open ")
	refused(cli.ExitUsage, "prove --out proof.bin", "program: \"\" is not accepted; accepted: an ELF file for RV64IM")
	refused(cli.ExitUsage, "prove echo.elf", "out: ")
	refused(cli.ExitUsage, "prove echo.elf --out nowhere/proof.bin", "out: ")
	refused(cli.ExitUsage, "prove echo.elf --out proof.bin --hash sha3", "accepted: keccak, poseidon")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	refused(cli.ExitUsage, "prove echo.elf --out proof.bin", "limit exceeded: bytes of memory for the proof: ")
	if _, err := os.Stat(f.path("proof.bin")); err == nil {
		t.Error("a proof was written")
	}
}

// TestGuestProofInterrupted: an interrupt ends guest prove before the proof is done.
func TestGuestProofInterrupted(t *testing.T) {
	f := files{t, t.TempDir()}
	f.write("echo.elf", echo(0))
	cmd := exec.CommandContext(t.Context(), "zkbench-real", "guest", "prove", f.path("echo.elf"), "--out", f.path("proof.bin"))
	lines := bufio.NewScanner(must.Get(cmd.StderrPipe())(t))
	must.Do(t, cmd.Start())
	golden.Equal(t, "a line for the first phase", true, lines.Scan())
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	golden.Equal(t, "exit code", cli.ExitPartial, clitest.ExitCode(t, cmd))
	golden.Equal(t, "the last line", "zkbench: interrupted", last)
	if _, err := os.Stat(f.path("proof.bin")); err == nil {
		t.Error("a proof was written")
	}
}
