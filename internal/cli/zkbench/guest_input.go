package zkbench

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload/guest"
	"github.com/zkbench/zkbench/riscv"
)

func guestInputCommand() *cobra.Command {
	names := strings.Join(guest.Names(), ", ")
	cmd := &cobra.Command{
		Use: "input GUEST --output FILE", Args: cobra.ArbitraryArgs,
		Short: "Make an input for a guest of this module",
		Long: "Make an input for a guest of this module (a package in riscv/guests), for run and cost. It is random,\n" +
			"and the same for the same seed. GUEST is one of " + names + ".\n",
	}
	output := argument.Define(cmd.Flags(), "output", argument.KindFile, "", "the path of a file", "write the input to this file")
	size := argument.Define(cmd.Flags(), "size", argument.KindNumber, "", "0 to 2^20", "size of the input: bytes of keccak, hashes of pedersen, leaves of merkle, bits of bulletproof, rows of plonk (default the guest's own)")
	seed := argument.Define(cmd.Flags(), "seed", argument.KindNumber, "1", "0 to 2^64 - 1", "seed of the input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &argument.ValueError{Field: "guest", Value: strings.Join(args, " "), Accepted: "one of " + names}
		}
		if !output.Given {
			return output.Refuse("output", "")
		}
		n := -1
		if size.Given {
			given, err := size.Number("size", 0, 1<<20)
			if err != nil {
				return err
			}
			n = int(given)
		}
		s, err := seed.Number("seed", 0, 1<<64-1)
		if err != nil {
			return err
		}
		raw, err := guest.MakeInput(cmd.Context(), args[0], n, s)
		if err != nil {
			return err
		}
		if err := os.WriteFile(output.Text, raw, 0o666); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		return nil
	}
	return cmd
}

// withoutInput extends the error of a guest of this module that failed without an input: it says
// how to make one.
func (f *guestRun) withoutInput(program string, err error) error {
	_, ended := errors.AsType[*riscv.ExitError](err)
	name := guest.NameOf(program)
	if !ended || f.input.Given || name == "" {
		return err
	}
	return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%v; it had no --input: zkbench guest input %s --output FILE makes one", err, name)}
}
