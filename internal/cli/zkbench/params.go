package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/policy"
)

// paramsCommand returns the command params.
func paramsCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "params new|show|check",
		Short: "Create, show and check a token system's public parameters",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	cmd.AddCommand(paramsNewCommand(stdout), paramsShowCommand(stdout), paramsCheckCommand(stdout))
	return cmd
}

func paramsShowCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a file of public parameters, without checking digests",
		Args:  oneFile,
	}
	formats := []string{"text", "json"}
	format := argument.Define(cmd.Flags(), "format", argument.KindText, formats[0], strings.Join(formats, ", "), "format of the output: "+strings.Join(formats, ", "))
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(formats, format.Text) {
			return format.Refuse("format", format.Text)
		}
		p, err := loadParams(args[0])
		if err != nil {
			return err
		}
		view, err := newParamsView(p)
		if err != nil {
			return err
		}
		if format.Text == "json" {
			return view.json(stdout)
		}
		return view.text(stdout)
	}
	return cmd
}

func paramsCheckCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check public parameters: derive every generator again and compare the digests",
		Long: "Check public parameters: derive every generator again and compare the digests. The exit code\n" +
			"is 1 if a digest does not match its generators, and 2 if the file does not hold parameters.",
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadParams(args[0])
			if err != nil {
				return err
			}
			return checkParams(cmd.Context(), stdout, args[0], p)
		},
	}
}

func checkParams(ctx context.Context, stdout io.Writer, path string, p *token.PublicParams) error {
	start := time.Now()
	generators, err := p.Validate(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return &cli.ExitError{Code: cli.ExitPartial, Text: "interrupted"}
		}
		return &cli.ExitError{Code: cli.ExitFailed, Text: fmt.Sprintf("%s: %v", path, err)}
	}
	took := time.Since(start).Round(time.Millisecond)
	total, each := 0, make([]string, len(p.RangeProofs))
	for i, s := range p.RangeProofs {
		total += generators[i]
		each[i] = fmt.Sprintf("%s %d", s.ProofType, generators[i])
	}
	_, err = fmt.Fprintf(stdout, "ok: the digests are those of %d generators, derived again in %v (%s)\n", total, took, strings.Join(each, ", "))
	return err
}

// oneFile refuses any number of arguments except one.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		o := argument.Option{Accepted: "the path of one file"}
		return o.Refuse("FILE of "+cmd.Parent().Name()+" "+cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

// loadParams reads and decodes a file of parameters. It returns an error if an issuer or auditor
// could sign for only one token.
func loadParams(path string) (*token.PublicParams, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	p, err := token.DecodePublicParams(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := policy.Check(&p.Policy); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// longestFile is the maximum number of bytes to read from a file, which may have no end. No
// parameters or certificates are as long; their decoders have limits of their own.
const longestFile = 8 << 20

func readFile(path string) ([]byte, error) { return readUpTo(path, longestFile) }

// readUpTo reads up to most bytes of a file.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, most))
	return data, errors.Join(err, file.Close())
}

// writeNew writes a file that does not exist yet. Readers see it empty or complete, never in part.
// It returns os.ErrExist if the file exists.
func writeNew(path string, data []byte) error {
	// Create the file first: a rename alone would replace a file that
	// another process created after any check.
	taken, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err = taken.Close(); err == nil {
		err = atomicfile.Write(path, data)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
