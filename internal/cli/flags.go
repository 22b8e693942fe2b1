package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/view/progress"
)

// flagName returns the name of a flag as commands define it. Users may also type it in upper case, and with underscores
// as the flags of go test have them.
func flagName(_ *pflag.FlagSet, typed string) pflag.NormalizedName {
	if strings.EqualFold(typed, benchName) {
		return benchName
	}
	return pflag.NormalizedName(strings.ToLower(strings.ReplaceAll(typed, "_", "-")))
}

// benchName is the one flag whose name has upper case: that of a study's program (the command benchmarking).
const benchName = "benchName"

// flagError rewrites an error about a flag that is unknown, lacks its value, has a wrong one or is
// given twice. The new error says what is accepted.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		typed := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			short, _, _ = strings.Cut(short, "=")
			typed = "-" + short
		}
		return unknownFlag(cmd, typed)
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return unknownFlag(cmd, syntax.GetSpecifiedFlag())
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := missing.GetFlag()
		return fmt.Errorf("--%s needs a value; accepted: %s", flag.Name, acceptedBy(flag))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		if !errors.Is(err, argument.ErrTwice) {
			return &argument.ValueError{Field: flag.Name, Value: invalid.GetValue(), Accepted: acceptedBy(flag)}
		}
		once := "one --" + flag.Name
		if flag.Value.Type() == argument.KindList {
			once += ", its values separated by commas"
		}
		return fmt.Errorf("--%s is given twice; accepted: %s", flag.Name, once)
	}
	return err
}

func acceptedBy(flag *pflag.Flag) string {
	if o, ok := flag.Value.(*argument.Option); ok {
		return o.Accepted
	}
	return "true, false" // cobra's own flags, help above all
}

// unknownFlag returns the error for a flag that the command does not have.
func unknownFlag(cmd *cobra.Command, typed string) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	slices.Sort(names)
	return argument.Unknown("flag", typed, names, cmd.CommandPath()+" --help")
}

// NoArguments returns an error if a command that accepts only flags is given other arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &argument.ValueError{Field: "argument of " + cmd.Name(), Value: args[0], Accepted: "flags only, see " + cmd.CommandPath() + " --help"}
	}
	return nil
}

// caseBar shows on stderr how far case i of n has come, by the time that has passed of its warm-up
// and window. Set-up and checks are not included. done removes the bar, so that it never mixes with
// the output.
func caseBar(stderr io.Writer, i, n int, job measure.Job) (done func()) {
	bars := progress.Bars(stderr)
	if bars == nil {
		return func() {}
	}
	stop := progress.Timed(bars, 0, fmt.Sprintf("%d/%d", i+1, n), job.Caption(), job.Settings.Warmup.Time+job.Settings.Duration, nil)
	return func() {
		stop()
		bars.Wait()
	}
}
