package zkbench

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// shortForms shorten commands of the README that take long.
var shortForms = [][2]string{
	{"--workers NumCPU --duration 10s", "--workers NumCPU --duration 100ms"},
	{"--slo p99=50ms --workers 4", "--slo p99=50ms --workers 4 --bits 8 --budget 1s --duration 1s"},
	{"--duration 10s --fail-if 'p99>50ms'", "--duration 1s --fail-if p50>50s"},
	{"HEAD~1..WORK sender --count", "WORK..WORK sender --bits 8 --count"},
	{"HEAD~1..WORK --bench ./transcript", "WORK..WORK --bench ./transcript --processes 2 -- -benchtime=1ms"},
	{"HEAD~1..WORK sender --gate 3%", "WORK..WORK sender --bits 8 --gate 3% --processes 2 --duration 20ms --budget 0s --allow-blind"},
	{"leak sender-constant-time --duration 60s", "leak sender-constant-time --bits 8 --num-inputs 1 --num-outputs 1 --duration 1s"},
	{"study token --quick", "study token --quick --only sample"},
	{"--bytes 135 --system plonk,ultra", "--bytes 135 --system ultra"},
	{"local --dir town", "local --dir town --listen 127.0.0.1:0"},
	{"suite quick", "suite short.yaml --out benchmark_logs_..."},
	{"-bench 'BenchmarkSender$' -benchmem", "-bench BenchmarkSender$ -benchmem -benchtime=1x"},
	{"-run '^$'", "-run ^$"},
}

// shortSuite replaces the suite quick.
const shortSuite = "name: short\ncases:\n  - run: sender\n    bits: 8\n    duration: 50ms\n"

// benchmarkOutput is the content of the files that are compared.
const benchmarkOutput = "pkg: p\nBenchmarkX-2 1000 1234 ns/op 64 B/op 2 allocs/op\nPASS\n"

// readmeCommands returns the lines of code of the README that run the command or go test.
func readmeCommands(t *testing.T, root string) (commands []string) {
	t.Helper()
	readme := pages(t, root)[0]
	for _, line := range readme.blocks {
		switch {
		case strings.HasPrefix(line, "bin/zkbench bisect "), strings.Contains(line, " --on "): // which have tests of their own: they need a range of commits, and other machines
		case strings.HasPrefix(line, "bin/zkbench "), strings.HasPrefix(line, "go test "):
			commands = append(commands, line)
		}
	}
	return commands
}

// screen is the maximum number of lines that a command may print.
const screen = 60

// TestReadme runs the README's commands, the long ones in a short form: each ends well and
// fits a screen.
func TestReadme(t *testing.T) {
	if os.Getenv("ZKBENCH_README") == "" {
		t.Skip("make readme runs the README's commands")
	}
	root := must.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	commands := readmeCommands(t, root)
	golden.Within(t, "commands", 15, len(commands), 40)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "short.yaml"), []byte(shortSuite), 0o666))
	for _, name := range []string{"old.txt", "new.txt"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(benchmarkOutput), 0o666))
	}
	used := make(map[string]bool)
	for _, typed := range commands {
		command := typed
		for _, form := range shortForms {
			if strings.Contains(command, form[0]) {
				command, used[form[0]] = strings.Replace(command, form[0], form[1], 1), true
			}
		}
		t.Run(typed, func(t *testing.T) {
			args := strings.Fields(command)
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			if args[0] == "bin/zkbench" {
				cmd = exec.CommandContext(t.Context(), "zkbench-real", args[1:]...)
				cmd.Dir = dir
			}
			if args[0] == "go" || strings.Contains(command, "--git") || strings.Contains(command, "examples/") || strings.Contains(command, "riscv/") {
				cmd.Dir = root
			}
			if strings.Contains(command, "--serve") || strings.Contains(command, "zkbench local") {
				serves(t, cmd)
				return
			}
			var out, messages strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &messages
			must.Do(t, cmd.Start())
			if code := clitest.ExitCode(t, cmd); code != cli.ExitOK {
				t.Fatalf("%s: exit code %d\n%s%s", command, code, &out, &messages)
			}
			golden.Within(t, "lines", 1, strings.Count(out.String(), "\n"), screen)
		})
	}
	for _, form := range shortForms {
		if !used[form[0]] {
			t.Errorf("no command has %q", form[0])
		}
	}
}

// serves fails the test unless a command says where it listens, and ends when it is interrupted.
func serves(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	pipe := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	line := must.Get(bufio.NewReader(pipe).ReadString('\n'))(t)
	golden.Contains(t, line, "http://")
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	golden.Equal(t, "exit code", cli.ExitOK, clitest.ExitCode(t, cmd))
}
