package zkbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/policy"
)

// paramsFlags are the flags of params new, as they were typed.
type paramsFlags struct {
	out, curve, bits, proofTypes *argument.Option
	policy                       *policyFlags
}

func newParamsFlags(flags *pflag.FlagSet) *paramsFlags {
	defaults := token.DefaultPolicy()
	list := func(names []string) string { return strings.Join(names, ", ") }
	define := func(name, kind, text, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, text, accepted, help+": "+accepted)
	}
	return &paramsFlags{
		out:        define("out", argument.KindFile, "", "the path of a file that does not exist", "write the parameters to this file"),
		curve:      define("curve", argument.KindText, "BN254", token.AcceptedCurves(token.Curves()...), "curve"),
		bits:       define("bits", argument.KindNumber, "64", "1 to 64", "values are below 2^bits"),
		proofTypes: define("proof-type", argument.KindList, token.Bulletproof+","+token.CSP, list(token.ProofTypes()), "range-proof systems that actions may use"),
		policy:     newPolicyFlags(flags, &defaults),
	}
}

func paramsNewCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new --out FILE",
		Short: "Derive the generators of new public parameters and write them to a file",
		Args:  cli.NoArguments,
	}
	f := newParamsFlags(cmd.Flags())
	cmd.RunE = func(*cobra.Command, []string) error {
		p, err := f.params()
		if err != nil {
			return err
		}
		data, err := p.Encode()
		if err != nil {
			return err
		}
		view, err := newParamsView(p)
		if err != nil {
			return err
		}
		if err := writeNew(f.out.Text, data); errors.Is(err, os.ErrExist) {
			return f.out.Refuse("out", f.out.Text)
		} else if err != nil {
			return fmt.Errorf("out: %w", err)
		}
		return view.text(stdout)
	}
	return cmd
}

// params returns the parameters that were typed. It refuses everything that it can before it
// derives generators.
func (f *paramsFlags) params() (*token.PublicParams, error) {
	if f.out.Text == "" {
		return nil, f.out.Refuse("out", "")
	}
	if !slices.Contains(token.Curves(), token.Curve(f.curve.Text)) {
		return nil, f.curve.Refuse("curve", f.curve.Text)
	}
	bits, err := f.bits.Number("bits", 1, 64)
	if err != nil {
		return nil, err
	}
	var proofTypes []string
	for name := range strings.SplitSeq(f.proofTypes.Text, ",") {
		if !slices.Contains(token.ProofTypes(), name) {
			return nil, f.proofTypes.Refuse("proof-type", name)
		}
		if slices.Contains(proofTypes, name) {
			return nil, (&argument.Option{Accepted: "each once"}).Refuse("proof-type", f.proofTypes.Text)
		}
		proofTypes = append(proofTypes, name)
	}
	first := token.DefaultPolicy()
	if err := cmp.Or(f.policy.change(&first), policy.Check(&first)); err != nil {
		return nil, err
	}
	p, err := token.NewPublicParams(f.curve.Text, int(bits), proofTypes...)
	if err != nil {
		return nil, err
	}
	p.Policy = first
	return p, nil
}
