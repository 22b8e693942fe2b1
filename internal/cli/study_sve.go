package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/plot"
	"github.com/zkbench/zkbench/internal/study/sve"
)

// sveModel is the what-if model of the study of SVE, with its parameters as flags.
func sveModel(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "model", Args: noArguments,
		Short: "What if: time, power and cost of a processor with another clock and wider vectors",
		Long: `The model of section 5 of OKX's study of ARM SVE. A processor that takes --time at
--clock with vectors of --width bits takes, at another clock and width, as much less as
the clock is faster and the instructions are fewer. The dynamic part of its power grows
with its speed; the processor's part of a server's power, and energy's part of the cost of
ownership, say what that costs.

The defaults are the study's Graviton4, in units of its x86 processors with AVX-512, and the
instructions of our own kernel. The three shares are assumptions.`,
	}
	f := sve.NewWhatIfFlags(cmd.Flags())
	cmd.RunE = func(*cobra.Command, []string) error {
		w, err := f.Parse()
		if err != nil {
			return err
		}
		if f.Plot.Given {
			var image bytes.Buffer
			if err := plot.Write(&image, plot.SVG, w.Figure()); err != nil {
				return err
			}
			if err := atomicfile.Write(f.Plot.Text, image.Bytes()); err != nil {
				return fmt.Errorf("plot: %w", err)
			}
		}
		_, err = io.WriteString(stdout, w.Table().String())
		return err
	}
	return cmd
}
