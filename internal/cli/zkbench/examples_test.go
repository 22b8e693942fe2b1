package zkbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// docForms shorten commands of docs/ that take long, and fill in placeholders.
var docForms = [][2]string{
	{"sender --out results --profile", "sender --bits 8 --out profiles --profile"},
	{"--duration 50ms --fail-if 'p99>50ms,throughput<100'", "--duration 1s --bits 8 --fail-if 'p50>50s,throughput<1'"},
	{"--listen localhost:9100", "--listen localhost:39188"},
	{"--processes 10 --save-baseline", "--processes 2 --duration 50ms --save-baseline"},
	{"compare OLD NEW", "compare old.txt new.txt"},
	{"--slo p99=50ms", "--slo p99=50ms --budget 1s --duration 1s --bits 8"},
	{"--form edwards,grumpkin,tables --hashes 8,32,125 --cpus 1,2", "--form edwards,grumpkin,tables --hashes 1 --cpus 1"},
	{"--hashes 8 --system plonk,groth16,turbo,ultra", "--hashes 1 --system plonk,groth16,turbo,ultra"},
	{"--hashes 128", "--hashes 8"},
	{"--gates 1024..65536*4", "--gates 1024..4096*4"},
	{"--gates 65528", "--gates 1024"},
	{"--form lookup,wide,wide-14-25 --bytes 135", "--form lookup,wide --bytes 135"},
	{"-bench . -hashes 8", "-bench . -benchtime=1x -hashes 8"},
	{"--bytes 136,1360,13600 --proofs 1,2,4,8", "--bytes 136 --proofs 1,2"},
	{"--set secure100,compare100", "--set compare100"},
	{"--leaves 1048576 --kernel portable,avx2", "--leaves 4096 --kernel portable"},
	{"--matrix study --kernel portable,avx2", "--kernel portable"},
	{"--bytes 136000 --predict-cpus 1,2,4,8,16", "--bytes 136 --predict-cpus 1,2"},
	{"--log 16,18 --stack 1,16", "--log 12 --stack 1,16"},
	{"suite goldilocks", "suite goldilocks --plan"},
	{"suite guests", "suite guests --plan"},
	{"suite plonkish", "suite plonkish --plan"},
	{"suite quick", "suite quick --plan"},
	{"exec prover.yaml", "exec examples/prover/python.yaml"},
	{"--bytes 136,1360 --stage prove,verify", "--bytes 64 --stage prove,verify"},
	{"stages NAME", "stages python-hash"},
	{"suite mine.yaml --out results", "suite mine.yaml --out benchmark_logs_results"},
	{"suite --resume results", "suite --resume benchmark_logs_results"},
	{"read -r digest", "digest=$(zkbench policy show update --params token.params --ledger ledger.db | awk '/digest/ {print $NF; exit}')"},
	{"read -r agreed", "agreed=$(zkbench policy show update --params town/token.params --ledger town | awk '/digest/ {print $NF; exit}')"},
	{"zkbench local --dir town >", "zkbench local --dir town --listen 127.0.0.1:0 >"},
	{"--processes 10 --json new.jsonl", "--processes 2 --json $DIR/new.jsonl"},
	{"--batch-wait 0s,1ms,5ms --rate 1000,2000,3000", "--batch-wait 1ms --rate 100"},
	{"--count 10 --timeout 4s --benchName BenchmarkSender", "--count 10 --timeout 4s --benchName BenchmarkSender --plan"},
	{"report DIR...", "report benchmark_logs_results"},
	{"report --pdf DIR...", "report --pdf benchmark_logs_results"},
	{"keccak --input README.md --profile keccak.pb.gz", "keccak --input README.md --profile $DIR/keccak.pb.gz"},
	{"-bench 'BenchmarkSender$' -benchmem", "-bench 'BenchmarkSender$' -benchmem -benchtime=1x -curves BN254 -bits 8"},
	{"--from docs/studies/records/sve", "--from $DIR/records"},
	{"report docs/studies/records/token", "report $DIR/records"},
	{"--plot whatif.svg", "--plot $DIR/whatif.svg"},
	{"pairing --output secrets", "pairing --output $DIR/secrets"},
	{"guest prove guest --input README.md --out proof", "guest prove ./internal/workload/guest/bare/hash.elf --out $DIR/proof"},
	{"guest verify proof --program guest --input README.md", "guest verify $DIR/proof --program ./internal/workload/guest/bare/hash.elf"},
	{"guest cost guest --input README.md", "guest cost ./internal/workload/guest/bare/hash.elf --input README.md"},
	{"guest run ./riscv/guests/pairing --input secrets", "guest input pairing --output $DIR/more && zkbench guest run ./riscv/guests/pairing --input $DIR/more"},
}

// longWindow matches the window of an example, which is shortened.
var longWindow = regexp.MustCompile(`-duration[ =][0-9]+m?s?\b`)

// notRun lists the commands of docs/ that no test runs, each with the reason.
var notRun = [][2]string{
	{"zkbench suite peers/provers/keccak.yaml", "builds provers of others, with cargo and node"},
	{"zkbench peers --prove", "proves runs of 2^20 instructions, beside another system: minutes"},
	{"zkbench exec barretenberg", "needs that program and its scripts"},
	{"zkbench stages keccak --bytes 135 --form bits,variable --system", "circuits of 150,000 gates and more: minutes"},
	{"zkbench stages keccak --form bits,variable,std", "circuits of 700,000 gates: minutes"},
	{"zkbench stages pairing --relation", "circuits of millions of constraints: minutes"},
	{"go test ./goldilocks ./goldilocks/poseidon", "the whole matrix of three packages: minutes"},
	{"zkbench guest run hello --input", "needs the compilers of the lines above it; TestLinuxPrograms and TestRustAndZig run such programs"},
	{"zkbench bisect", "needs commits; the scripts of bisect run it"},
	{"zkbench compare --git", "builds revisions: minutes; README's runs in each of its forms, and compare_any_test.go has --build and --run"},
	{"zkbench compare --run ./old", "needs two programs; the form with sleep runs"},
	{"zkbench compare a.jsonl b.jsonl", "needs two files; compare_files.txt compares unlike cases"},
	{"zkbench compare SESSION.jsonl", "needs a session; compare_test.go shows sessions again"},
	{"zkbench compare --baseline main NEW.jsonl", "needs a baseline; baseline_test.go compares with one"},
	{"zkbench selfcheck", "half an hour; selfcheck_test.go runs parts of it"},
	{"zkbench study keccak", "hours; study.txt and the tests of studies run parts"},
	{"zkbench study plonk", "hours; as study keccak"},
	{"zkbench study sve --out", "twenty minutes; as study keccak"},
	{"zkbench study sve --only", "minutes; as study keccak"},
	{"zkbench study token", "ten minutes; README's study token --quick runs"},
	{"zkbench suite quick --on", "needs other machines; suite_hosts_test.go has them"},
	{"zkbench suite token --on", "needs other machines; suite_hosts_test.go has them"},
	{"zkbench guest run guest", "needs a program in C; riscv/c has tests of this line"},
	{"zkbench report --serve", "goes on until it is interrupted; README's runs"},
	{"zkbench leak sender-constant-time", "as README's, which runs"},
	{"zkbench ledger fork ledger.db", "needs that ledger; ledger_test.go forks one"},
	{"zkbench ledger sign ledger.db", "needs that ledger; ledger_sign.txt and the script of requests.md sign one"},
	{"zkbench ledger receipt ledger.db", "needs a ledger with a signed head; receipt_test.go has one"},
	{"zkbench wallet receipt ANCHOR", "as ledger receipt"},
	{"zkbench ledger verify-receipt", "as ledger receipt"},
	{"zkbench ledger backup ledger.db", "needs that ledger; ledger_backup_test.go backs one up"},
	{"zkbench ledger restore ledger.backup", "needs that backup; ledger_backup_test.go restores one"},
	{"zkbench serve --role auditor", "goes on until it is interrupted; TestServeParties has such a server"},
	{"zkbench serve --role issuer", "as serve --role auditor"},
	{"zkbench wallet new --dir me --ledger https:", "needs servers; TestServeParties has them"},
	{"zkbench wallet pay --dir me --ledger https:", "as wallet new"},
	{"zkbench ledger mirror ledger.db", "needs that ledger; ledger_backup_test.go mirrors one"},
}

// scripts are pages whose commands need each other, with shell lines between. What stands from one of the given lines to
// the next prose is run as a whole.
var scripts = map[string][]string{
	"docs/requests.md": {"umask 077"},
	"docs/wallets.md":  {"zkbench ledger demo --dir demo"},
	"docs/serve.md":    {"zkbench ledger demo --dir demo", "umask 077"},
	"docs/operate.md":  {"zkbench local --dir town > town.txt &", "umask 077"},
}

// asShell begins the shell of an example: it defines the program. Servers, which run in the background, take the place of
// their shell, so that $! is the server.
const asShell = "set -euo pipefail\nzkbench() { case $1 in serve|local) exec zkbench-real \"$@\";; esac; zkbench-real \"$@\"; }\n"

// TestExamples runs the commands of docs/, the long ones in a short form: each ends well, or notRun says why it is not
// run. README's are TestReadme's.
func TestExamples(t *testing.T) {
	root := must.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	used, ran := make(map[string]bool), 0
	for _, p := range pages(t, root) {
		if !strings.HasPrefix(p.path, "docs/") {
			continue
		}
		dir, script := t.TempDir(), -1
		for i, line := range p.blocks {
			line = strings.TrimPrefix(line, "bin/")
			if slices.Contains(scripts[p.path], line) && p.parts[i] != script {
				ran, script = ran+1, p.parts[i]
				runExample(t, p.path, dir, root, trimmed(strings.Join(scriptOf(p, i), "\n"), used))
			}
			if p.parts[i] == script {
				continue
			}
			command := strings.Replace(line, "go run ./cmd/benchmarking", "benchmarking", 1)
			if !strings.HasPrefix(command, "zkbench ") && command != "zkbench" && !strings.HasPrefix(command, "go test ") && !strings.HasPrefix(command, "benchmarking ") {
				continue
			}
			if left := begins(notRun, line, used); left != "" {
				continue
			}
			ran++
			runExample(t, p.path, dir, root, trimmed(command, used))
		}
	}
	for _, list := range [][][2]string{docForms, notRun} {
		for _, entry := range list {
			if !used[entry[0]] {
				t.Errorf("no command of docs has %q", entry[0])
			}
		}
	}
	golden.Within(t, "examples that are run", 40, ran, 200)
}

// trimmed returns the short form of a command.
func trimmed(command string, used map[string]bool) string {
	command = longWindow.ReplaceAllStringFunc(command, func(w string) string { return w[:len("-duration")+1] + "50ms" })
	for _, form := range docForms {
		if strings.Contains(command, form[0]) {
			command, used[form[0]] = strings.Replace(command, form[0], form[1], 1), true
		}
	}
	return command
}

// begins returns the reason of the entry that a line begins with.
func begins(entries [][2]string, line string, used map[string]bool) string {
	for _, e := range entries {
		if strings.HasPrefix(line, e[0]) {
			used[e[0]] = true
			return e[1]
		}
	}
	return ""
}

// scriptOf returns the lines of a page from the given one up to the next prose.
func scriptOf(p page, from int) []string {
	to := from
	for to < len(p.blocks) && p.parts[to] == p.parts[from] {
		to++
	}
	return p.blocks[from:to]
}

// inRoot matches commands that name files of the repository.
var inRoot = regexp.MustCompile(`^go test|run guest|--git|\./|examples/|docs/|README\.md`)

// runExample runs a command in a page's directory, or in the root if it names files of the repository.
func runExample(t *testing.T, page, dir, root, command string) {
	t.Helper()
	t.Run(page+": "+command, func(t *testing.T) {
		if os.Getenv("ZKBENCH_README") == "" {
			t.Skip("make readme runs the commands of pages")
		}
		for _, program := range []string{"openssl", "curl"} {
			if _, err := exec.LookPath(program); err != nil && strings.Contains(command, program) {
				t.Skip("no " + program + " here")
			}
		}
		prepareExample(t, dir, root)
		cmd := exec.CommandContext(t.Context(), "bash", "-c", asShell+command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "DIR="+dir)
		if inRoot.MatchString(command) {
			cmd.Dir = root
		}
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		must.Do(t, cmd.Start())
		if code := clitest.ExitCode(t, cmd); code != cli.ExitOK {
			t.Errorf("exit code %d\n%s", code, &out)
		}
	})
}

// prepareExample writes the files that examples name: results to compare, a suite, records of
// studies.
func prepareExample(t *testing.T, dir, root string) {
	t.Helper()
	files := map[string]string{"old.txt": benchmarkOutput, "new.txt": benchmarkOutput, "mine.yaml": shortSuite}
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	if records := filepath.Join(dir, "records"); !exists(records) {
		must.Do(t, os.CopyFS(records, os.DirFS(filepath.Join(root, "docs", "studies", "records", "sve"))))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
