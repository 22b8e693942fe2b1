package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// option is a flag's value as it was typed. The commands parse it themselves, so
// that whatever is wrong with any flag is answered by the accepted values.
type option struct {
	kind     string // what help calls the value, for example list
	accepted string
	text     string // the default until one is given
	given    bool
}

// The kinds of options.
const (
	kindList   = "list"
	kindText   = "text"
	kindNumber = "number"
	kindTime   = "time"
	kindFile   = "file"
)

var errTwice = errors.New("given twice")

// Set takes a value once: which of two was meant, nobody can tell.
func (o *option) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.text, o.given = text, true
	return nil
}

func (o *option) String() string { return o.text }

// Type is the name of the value in the help text.
func (o *option) Type() string { return o.kind }

// defineOption defines a flag whose text the command parses.
func defineOption(flags *pflag.FlagSet, name, kind, text, accepted, usage string) *option {
	o := &option{kind: kind, accepted: accepted, text: text}
	flags.Var(o, name, usage)
	return o
}

// defineAxes defines the flags of the axes of defs, by the axis' key.
func defineAxes(flags *pflag.FlagSet, defs []workload.Def, prefix string) map[string]*option {
	axes := make(map[string]*option)
	for _, def := range defs {
		for _, a := range def.Axes {
			if axes[a.Key] == nil {
				axes[a.Key] = defineOption(flags, a.Long(), kindList, "", a.Accepted, prefix+a.Usage+": "+a.Accepted)
			}
		}
	}
	return axes
}

// typedAxes returns what was typed, by the axis' key.
func typedAxes(axes map[string]*option) map[string]string {
	typed := make(map[string]string)
	for key, o := range axes {
		if o.given {
			typed[key] = o.text
		}
	}
	return typed
}

// refuse is the error of a value that is not accepted.
func (o *option) refuse(field, value string) error {
	return &usage.ValueError{Field: field, Value: value, Accepted: o.accepted}
}

// flagError names what is accepted in the place of a flag that is unknown, lacks
// its value, has a wrong one or stands twice.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		typed := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			short, _, _ = strings.Cut(short, "=")
			typed = "-" + short
		}
		return &usage.ValueError{Field: "flag", Value: typed, Accepted: flagNames(cmd)}
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return &usage.ValueError{Field: "flag", Value: syntax.GetSpecifiedFlag(), Accepted: flagNames(cmd)}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := missing.GetFlag()
		return fmt.Errorf("--%s needs a value; accepted: %s", flag.Name, acceptedBy(flag))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		if !errors.Is(err, errTwice) {
			return &usage.ValueError{Field: flag.Name, Value: invalid.GetValue(), Accepted: acceptedBy(flag)}
		}
		once := "one --" + flag.Name
		if flag.Value.Type() == kindList {
			once += ", its values separated by commas"
		}
		return fmt.Errorf("--%s is given twice; accepted: %s", flag.Name, once)
	}
	return err
}

func acceptedBy(flag *pflag.Flag) string {
	if o, ok := flag.Value.(*option); ok {
		return o.accepted
	}
	return "true, false" // cobra's own flags, help above all
}

// flagNames are the flags of a command, in the order of the alphabet.
func flagNames(cmd *cobra.Command) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// noArguments refuses all but flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usage.ValueError{Field: "argument of " + cmd.Name(), Value: args[0], Accepted: "flags only: " + flagNames(cmd)}
	}
	return nil
}

// number reads a whole number between the bounds.
func (o *option) number(field string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(o.text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, o.refuse(field, o.text)
	}
	return n, nil
}

// duration reads a time between the bounds.
func (o *option) duration(field string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(o.text)
	if err != nil || d < least || d > most {
		return 0, o.refuse(field, o.text)
	}
	return d, nil
}
