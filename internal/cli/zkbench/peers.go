package zkbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/study/peer/ours"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/token"
)

// peerCommand returns our own peer program: peer NAME list, peer NAME run CASE. A name is a range
// proof, a kernel over the Goldilocks field, the STARKs, the guests, their proofs, or a ledger's state.
func peerCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use: "peer NAME list|run CASE", Hidden: true,
		DisableFlagParsing: true, // -samples is a flag of peer programs
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			var cases []peer.Case
			switch known := slices.Concat([]string{token.Bulletproof, token.CSP}, ours.GoldilocksNames(), []string{ours.Stark, ours.Riscv, ours.Zkvm, ours.ZkvmPoseidon, ours.State}); {
			case !slices.Contains(known, name):
				return &argument.ValueError{Field: "peer", Value: name, Near: argument.Near(name, known), Accepted: strings.Join(known, ", ")}
			case slices.Contains(ours.GoldilocksNames(), name):
				var err error
				if cases, err = ours.Goldilocks(name); err != nil {
					return err
				}
			case name == ours.Stark:
				cases = ours.Starks()
			case name == ours.Riscv:
				cases = ours.Guests()
			case name == ours.Zkvm:
				cases = ours.Proofs(stark.Keccak)
			case name == ours.ZkvmPoseidon:
				cases = ours.Proofs(stark.Poseidon)
			case name == ours.State:
				cases = ours.States()
			default:
				cases = ours.Tokens(name, defs)
			}
			if code := peer.Serve(args[1:], stdout, stderr, cases); code != cli.ExitOK {
				return &cli.ExitError{Code: code}
			}
			return nil
		},
	}
}

// peersCommand returns the command peers.
func peersCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "Measure zkbench beside other implementations",
		Long: "Measure zkbench beside other implementations, in interleaved processes: range proofs, STARKs, Poseidon,\n" +
			"trees, transforms, executors of RISC-V, commitments to a ledger's state; and transfers beside Panurus.\n" +
			"make peers builds the others. With --prove only provers of RISC-V programs are measured, which takes many\n" +
			"minutes; make peers-prove builds the others of these.",
		Args: cli.NoArguments,
	}
	flags, least := cmd.Flags(), strconv.Itoa(peer.MinRounds)
	rounds := argument.Define(flags, "rounds", argument.KindNumber, least, "a whole number of at least "+least, "number of rounds, at least "+least)
	prove := flags.Bool("prove", false, "measure only provers of runs of RISC-V programs; one round is enough, and the default")
	cpus := argument.Define(flags, "cpus", argument.KindNumber, "1", "a whole number of at least 1", "number of processors of a prover, with --prove")
	cases := argument.Define(flags, "cases", argument.KindText, "", "a regular expression on case names", "measure only cases whose name matches this regular expression (default all)")
	dir := argument.Define(flags, "dir", argument.KindFile, "peers", "the directory of the peers", "directory of the other implementations, which make peers builds")
	out := argument.Define(flags, "out", argument.KindFile, "", "the path of a file, which is overwritten", "write the medians to this file, in the Go benchmark format (overwritten)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		long := *prove
		if long && !flags.Changed("rounds") {
			rounds.Text = "1"
		}
		if long {
			rounds.Accepted = "a whole number of at least 1"
		}
		n, err := strconv.Atoi(rounds.Text)
		if err != nil || n < 1 || n < peer.MinRounds && !long {
			return rounds.Refuse("rounds", rounds.Text)
		}
		processors, err := strconv.Atoi(cpus.Text)
		if err != nil || processors < 1 {
			return cpus.Refuse("cpus", cpus.Text)
		}
		if flags.Changed("cpus") && !long {
			return &argument.ValueError{Field: "cpus", Value: cpus.Text, Accepted: "only together with --prove"}
		}
		match, err := regexp.Compile(cases.Text)
		if err != nil {
			return cases.Refuse("cases", cases.Text)
		}
		self, err := os.Executable()
		if err != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		programs := peerPrograms(self, dir.Text)
		if long {
			programs = provers(self, dir.Text, processors)
		}
		return comparePeers(cmd.Context(), stdout, out.Text, programs, peer.Options{Long: long, Rounds: n, Cases: match, Progress: stderr}, defs)
	}
	return cmd
}

func peerPrograms(self, dir string) []peer.Program {
	one := []string{"GOMAXPROCS=1"}
	programIn := func(workspace string) func(parts ...string) []string {
		return func(parts ...string) []string {
			return []string{filepath.Join(append([]string{dir, workspace, "target"}, parts...)...)}
		}
	}
	rust, zkvm := programIn("rust"), programIn("zkvm")
	programs := []peer.Program{
		{Name: "zkbench-bp", Ours: true, Argv: []string{self, "peer", token.Bulletproof}, Env: one},
		{Name: "zkbench-csp", Ours: true, Argv: []string{self, "peer", token.CSP}, Env: one},
		{Name: "dalek", Argv: rust("release", "peer-dalek")},
		{Name: "tari", Argv: rust("release", "peer-tari")},
		{Name: ours.Panurus, Argv: []string{filepath.Join(dir, "go", "bin", ours.Panurus)}, Env: one},
		{Name: "kryptology", Argv: []string{filepath.Join(dir, "go", "bin", "kryptology")}, Env: one},
	}
	for _, name := range slices.Backward(ours.GoldilocksNames()) { // the fastest comes first: others are compared with it
		programs = append(programs, peer.Program{Name: "zkbench-" + name, Ours: true, Argv: []string{self, "peer", name}, Env: one})
	}
	for _, name := range []string{"plonky2", "plonky3"} { // with the processor's features, and without
		programs = append(programs,
			peer.Program{Name: name, Argv: rust("release", "peer-"+name)},
			peer.Program{Name: name + "-baseline", Argv: rust("baseline", "release", "peer-"+name)},
		)
	}
	return append(programs,
		peer.Program{Name: "zkbench-" + ours.Stark, Ours: true, Argv: []string{self, "peer", ours.Stark}, Env: one},
		peer.Program{Name: "plonky3-keccak", Argv: rust("release", "peer-plonky3-keccak")},
		peer.Program{Name: "starky", Argv: rust("release", "peer-starky")},
		peer.Program{Name: "zkbench-" + ours.Riscv, Ours: true, Argv: []string{self, "peer", ours.Riscv}, Env: one},
		peer.Program{Name: "qemu", Argv: rust("release", "peer-qemu")},
		peer.Program{Name: "rrs", Argv: rust("release", "peer-rrs")},
		peer.Program{Name: "sp1", Argv: zkvm("release", "peer-sp1")},
		peer.Program{Name: "sp1-portable", Argv: zkvm("portable", "release", "peer-sp1")},
		peer.Program{Name: "risc0-4", Argv: zkvm("release", "peer-risc0-4")},
		peer.Program{Name: "risc0", Argv: zkvm("release", "peer-risc0")},
		peer.Program{Name: "zkbench-" + ours.State, Ours: true, Argv: []string{self, "peer", ours.State}, Env: one},
		peer.Program{Name: "smt", Argv: []string{filepath.Join(dir, "go", "bin", "smt")}, Env: one},
	)
}

// provers returns the programs that prove runs of RISC-V programs, each on this number of processors.
func provers(self, dir string, processors int) []peer.Program {
	var env []string
	for _, name := range []string{"GOMAXPROCS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"} {
		env = append(env, fmt.Sprintf("%s=%d", name, processors))
	}
	return []peer.Program{
		{Name: "zkbench-" + ours.Zkvm, Ours: true, Argv: []string{self, "peer", ours.Zkvm}, Env: env},
		{Name: "zkbench-" + ours.ZkvmPoseidon, Ours: true, Argv: []string{self, "peer", ours.ZkvmPoseidon}, Env: env},
		{Name: "sp1-prover", Argv: []string{filepath.Join(dir, "zkvm-prover", "target", "release", "peer-sp1-prover")}, Env: env, Target: "peers-prove"},
	}
}

// comparePeers runs the comparison and writes the result to stdout and, if out is not "", to the
// file out. If it is interrupted, it writes what it has.
func comparePeers(ctx context.Context, stdout io.Writer, out string, programs []peer.Program, opts peer.Options, defs []workload.Def) error {
	result, err := peer.Compare(ctx, programs, opts)
	if errors.Is(err, zkbench.ErrParams) {
		return err // nothing was measured
	}
	if result != nil {
		writeErr := writePeers(stdout, result, defs)
		if out != "" {
			var text bytes.Buffer
			writeErr = errors.Join(writeErr, result.WriteBenchmarks(&text), atomicfile.Write(out, text.Bytes()))
		}
		if writeErr != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Text: writeErr.Error()}
		}
	}
	switch {
	case err == nil && len(result.Failed) > 0:
		return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%d cases failed", len(result.Failed))}
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &cli.ExitError{Code: cli.ExitPartial, Text: fmt.Sprintf("interrupted after %d processes", len(result.Samples))}
	}
	return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
}

// writePeers writes the ratios, and the transfers in units of the run's reference operation.
func writePeers(w io.Writer, result *peer.Result, defs []workload.Def) error {
	if err := result.WriteText(w); err != nil {
		return err
	}
	var rows []peer.Own
	for _, p := range []struct{ program, proof string }{{"zkbench-bp", token.Bulletproof}, {"zkbench-csp", token.CSP}} {
		rows = append(rows, ours.Transfers(result, p.program, p.proof, defs)...)
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return peer.WriteYardstick(w, rows)
}
