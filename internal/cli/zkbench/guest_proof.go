package zkbench

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

const (
	acceptedBare   = "an ELF file for RV64IM without an operating system"
	acceptedProved = acceptedBare + ", or a key of 64 hex digits"
)

// guestProof holds the flags that guest prove and guest verify share.
type guestProof struct {
	input, exit, context *argument.Option
}

func defineGuestProof(flags *pflag.FlagSet, input string) *guestProof {
	return &guestProof{
		input:   argument.Define(flags, "input", argument.KindFile, "", "the path of a file", input),
		exit:    argument.Define(flags, "exit", argument.KindNumber, "0", "0 to 2^64 - 1", "exit code with which the program ends"),
		context: argument.Define(flags, "context", argument.KindText, "", "text", "text that the proof is bound to, such as the name of the verifier"),
	}
}

// about returns what a proof is about in addition to the program.
func (f *guestProof) about() (about zkvm.About, err error) {
	about.Context = []byte(f.context.Text)
	about.Exit, err = f.exit.Number("exit", 0, 1<<64-1)
	return about, err
}

// bytes returns the input. Without the flag it is empty.
func (f *guestProof) bytes() ([]byte, error) {
	if !f.input.Given {
		return nil, nil
	}
	raw, err := readUpTo(f.input.Text, zkvm.MaxInput+1)
	if err == nil && len(raw) > zkvm.MaxInput {
		size := int64(len(raw)) // at least, of a file that does not know its size
		if info, err := os.Stat(f.input.Text); err == nil {
			size = max(size, info.Size())
		}
		err = &zkbench.LimitError{What: "bytes", Estimate: size, Max: zkvm.MaxInput}
	}
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	return raw, nil
}

// loadBare loads the program whose run is proved.
func loadBare(path string) (*zkvm.Program, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	p, err := zkvm.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("program: %s: %w", path, err)
	}
	return p, nil
}

// checkFolder returns an error if a file that is written at the end has no folder.
func checkFolder(field string, o *argument.Option) error {
	if !o.Given {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(o.Text)); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func guestProveCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prove PROGRAM --out FILE", Args: cobra.ArbitraryArgs,
		Short: "Run a program without an operating system, and prove the run",
		Long: "Run a program on an input, and prove that it ends with an exit code and an output. PROGRAM is " + acceptedBare + ",\n" +
			"as riscv/c/cc.sh makes it; compressed instructions are accepted too. A verifier of the proof needs the\n" +
			"program's key, and learns the output, the number of cycles, and the length and a digest of the input.\n" +
			"The proof does not hide the input: it reveals something about all that the program did.\n\n" +
			"A run that ends with another exit code than --exit has no proof, and neither has one with an instruction\n" +
			"that is not of RV64IM, a call of a precompile, an input of more than " + grouped(zkvm.MaxInput) + " bytes, an\n" +
			"output of more than " + grouped(zkvm.MaxOutput) + " bytes, or more than 2^20 cycles. Such a run is refused\n" +
			"before anything is proved, and so is a proof that would take more memory than there is. docs/zkvm.md says\n" +
			"what is proved. The exit code is 1 if the program failed, and 3 if the command was interrupted.",
	}
	flags := cmd.Flags()
	f := defineGuestProof(flags, "the program's input file (default none)")
	names := string(stark.Keccak) + ", " + string(stark.Poseidon)
	hash := argument.Define(flags, "hash", argument.KindText, string(stark.Keccak), names, "hash function of the proof's Merkle trees: "+names)
	out := argument.Define(flags, "out", argument.KindFile, "", acceptedNewFile, "write the proof to this file: "+acceptedNewFile)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		about, err := f.about()
		if err != nil {
			return err
		}
		o := zkvm.Options{Hash: stark.Hash(hash.Text)}
		switch _, exists := os.Lstat(out.Text); {
		case len(args) != 1:
			return &argument.ValueError{Field: "program", Value: strings.Join(args, " "), Accepted: acceptedBare}
		case o.Hash != stark.Keccak && o.Hash != stark.Poseidon:
			return hash.Refuse("hash", hash.Text)
		case !out.Given || exists == nil:
			return out.Refuse("out", out.Text)
		}
		if err := checkFolder("out", out); err != nil {
			return err
		}
		p, err := loadBare(args[0])
		if err != nil {
			return err
		}
		input, err := f.bytes()
		if err != nil {
			return err
		}
		var plan zkvm.Plan
		o.Plan = func(of zkvm.Plan) error {
			plan = of
			return memory.Fits("memory for the proof", plan.Memory)
		}
		o.Span = func(phase string) func() {
			begin := time.Now()
			return func() { fmt.Fprintf(stderr, "%s: %s\n", phase, format.Time(float64(time.Since(begin)))) }
		}
		ctx, ex := cmd.Context(), executor.Pool()
		key, err := p.Key(ctx, ex, o.Hash)
		if err != nil {
			return ended(err)
		}
		begin := time.Now()
		proof, run, err := p.Prove(ctx, ex, input, about, o)
		took := time.Since(begin)
		if exit, ok := errors.AsType[*riscv.ExitError](err); ok {
			return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%v; this run has a proof with --exit %d", err, uint64(exit.Code))}
		}
		if err != nil {
			return ended(err)
		}
		if err := writeOut(out, proof); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s bytes, %d proved bits, in %s: %s cycles per second; memory at most %s, by an estimate\n", out.Text,
			grouped(uint64(len(proof))), plan.Bits, format.Time(float64(took)), format.Prefixed(float64(run.Cycles)/took.Seconds()), format.Bytes(float64(plan.Memory)))
		return showProved(stdout, key, run)
	}
	return cmd
}

// showProved prints what a proof says.
func showProved(w io.Writer, key zkvm.Key, run *zkvm.Run) error {
	var digest strings.Builder
	for _, e := range run.Input.Hash {
		fmt.Fprintf(&digest, "%016x", e)
	}
	_, err := fmt.Fprintf(w, "program: key %x\nrun: %s cycles, exit code %d\ninput: %s bytes, digest %s\noutput: %s bytes\n",
		key[:], grouped(run.Cycles), run.Exit, grouped(run.Input.Length), &digest, grouped(uint64(len(run.Output))))
	return err
}

func guestVerifyCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify PROOF --program FILE|KEY", Args: cobra.ArbitraryArgs,
		Short: "Verify a proof of guest prove, and print what it says",
		Long: "Verify a proof of guest prove: that the program has a run that ends with the exit code and the output. Of the\n" +
			"input, a proof has its length and a digest; --input compares them with a file. Who made the proof, and when,\n" +
			"is not proved. The exit code is 1 if the proof does not hold, also if it is about another program, input, exit\n" +
			"code or context, and 2 if the file is not a proof.",
	}
	flags := cmd.Flags()
	f := defineGuestProof(flags, "the input that the run must have had (default any)")
	program := argument.Define(flags, "program", argument.KindText, "", acceptedProved, "the program: "+acceptedProved)
	output := argument.Define(flags, "output", argument.KindFile, "", "the path of a file", "file for the output that the program committed to, written if the proof holds")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		about, err := f.about()
		if err != nil {
			return err
		}
		switch {
		case len(args) != 1:
			return &argument.ValueError{Field: "proof", Value: strings.Join(args, " "), Accepted: "the path of a file that guest prove has written"}
		case program.Text == "":
			return program.Refuse("program", "")
		}
		if err := checkFolder("output", output); err != nil {
			return err
		}
		proof, err := readFile(args[0])
		if err != nil {
			return fmt.Errorf("proof: %w", err)
		}
		input, err := f.bytes()
		if err != nil {
			return err
		}
		key, err := keyOf(cmd, program.Text, proof)
		if err != nil {
			return ended(err)
		}
		run, err := zkvm.Verify(key, proof, about)
		if err == nil && f.input.Given && run.Input != zkvm.DigestOf(input) {
			err = fmt.Errorf("%w: of another input", zkbench.ErrProof)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", args[0], err)
		}
		if errors.Is(err, zkbench.ErrProof) {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		if err == nil && output.Given {
			err = os.WriteFile(output.Text, run.Output, 0o666)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "ok: %s holds\n", args[0])
		if err := showProved(stdout, key, run); err != nil || f.input.Given {
			return err
		}
		_, err = fmt.Fprintln(stdout, "not checked: which input it was; --input FILE compares it")
		return err
	}
	return cmd
}

// keyOf returns the key that is typed in hex, or that of the program at a path for a proof.
func keyOf(cmd *cobra.Command, program string, proof []byte) (key zkvm.Key, err error) {
	if raw, err := hex.DecodeString(program); err == nil && len(raw) == len(key) {
		return zkvm.Key(raw), nil
	}
	p, err := loadBare(program)
	if err != nil {
		return key, err
	}
	hash, err := zkvm.HashOf(proof)
	if err != nil {
		return key, fmt.Errorf("proof: %w", err)
	}
	return p.Key(cmd.Context(), executor.Pool(), hash)
}
