package sve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// WhatIfFlags are the flags of the command that evaluates the what-if model (Model).
type WhatIfFlags struct {
	time, clock, width, dynamic, processor, energy *argument.Option
	instructions, clocks, widths, against          *argument.Option
	Plot                                           *argument.Option // path of an SVG file
}

// NewWhatIfFlags defines the flags on the given flag set. The default values are those of DefaultWhatIf.
func NewWhatIfFlags(flags *pflag.FlagSet) *WhatIfFlags {
	w := DefaultWhatIf()
	define := func(name, kind, text, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, text, accepted, help+": "+accepted)
	}
	const positive, share, widthsOf = "a number above 0", "0 to 1", "widths of --instructions"
	counts := commas(slices.Sorted(maps.Keys(w.Instructions)), func(bits int) string { return fmt.Sprintf("%d=%v", bits, w.Instructions[bits]) })
	return &WhatIfFlags{
		time:         define("time", argument.KindNumber, fmt.Sprint(w.Time), positive, "time at --clock and --width, in any unit"),
		clock:        define("clock", argument.KindNumber, fmt.Sprint(w.Clock), positive, "GHz that --time was measured at"),
		width:        define("width", argument.KindNumber, fmt.Sprint(w.Width), "one of the "+widthsOf, "bits that --time was measured with"),
		dynamic:      define("dynamic", argument.KindNumber, fmt.Sprint(w.Dynamic), share, "share of a processor's power that grows with its speed"),
		processor:    define("processor", argument.KindNumber, fmt.Sprint(w.Processor), share, "share of a server's power that the processor uses"),
		energy:       define("energy", argument.KindNumber, fmt.Sprint(w.Energy), share, "share of the cost of ownership that pays for energy"),
		instructions: define("instructions", argument.KindList, counts, "bits=number,...", "instructions of the same work for each width of vectors"),
		clocks:       define("clocks", argument.KindList, commas(w.Clocks, func(c float64) string { return fmt.Sprint(c) }), "numbers above 0", "clocks of the processors to model, in GHz"),
		widths:       define("widths", argument.KindList, commas(w.Widths, strconv.Itoa), widthsOf, "widths of the vectors to model, in bits"),
		against:      define("against", argument.KindList, commas(w.Against, Rival.String), "name=time,... or empty", "processors to compare with, and their times in the unit of --time"),
		Plot:         define("plot", argument.KindFile, "", "the path of an SVG file", "draw figure 8"),
	}
}

// commas formats values and separates them by commas.
func commas[T any](values []T, text func(T) string) string {
	var all []string
	for _, v := range values {
		all = append(all, text(v))
	}
	return strings.Join(all, ",")
}

// Parse parses the values of the flags and checks the model. If a flag is wrong, it returns an *argument.ValueError
// that names the first such flag.
func (f *WhatIfFlags) Parse() (w WhatIf, err error) {
	for _, n := range []struct {
		name string
		from *argument.Option
		to   *float64
	}{
		{"time", f.time, &w.Time},
		{"clock", f.clock, &w.Clock},
		{"dynamic", f.dynamic, &w.Dynamic},
		{"processor", f.processor, &w.Processor},
		{"energy", f.energy, &w.Energy},
	} {
		if *n.to, err = realNumber(n.from, n.name, n.from.Text); err != nil {
			return w, err
		}
	}
	if w.Width, err = strconv.Atoi(f.width.Text); err != nil {
		return w, f.width.Refuse("width", f.width.Text)
	}
	w.Instructions = make(map[int]float64)
	err = pairs(f.instructions, "instructions", func(name string, v float64) bool {
		bits, err := strconv.Atoi(name)
		w.Instructions[bits] = v
		return err == nil && v > 0
	})
	if err != nil {
		return w, err
	}
	for text := range strings.SplitSeq(f.clocks.Text, ",") {
		c, err := realNumber(f.clocks, "clocks", text)
		if err != nil {
			return w, err
		}
		w.Clocks = append(w.Clocks, c)
	}
	for text := range strings.SplitSeq(f.widths.Text, ",") {
		bits, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return w, f.widths.Refuse("widths", text)
		}
		w.Widths = append(w.Widths, bits)
	}
	if f.against.Text != "" {
		err = pairs(f.against, "against", func(name string, v float64) bool {
			w.Against = append(w.Against, Rival{Name: name, Time: v})
			return name != "" && v > 0
		})
		if err != nil {
			return w, err
		}
	}
	return w, w.Check()
}

// realNumber parses a number in an option's value.
func realNumber(o *argument.Option, field, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, o.Refuse(field, text)
	}
	return v, nil
}

// pairs parses name=number,... and calls use for each pair. It returns an error if use returns false.
func pairs(o *argument.Option, field string, use func(name string, v float64) bool) error {
	for item := range strings.SplitSeq(o.Text, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(item), "=")
		v, err := realNumber(o, field, text)
		if !ok || err != nil || !use(name, v) {
			return o.Refuse(field, item)
		}
	}
	return nil
}
