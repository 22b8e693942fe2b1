package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
)

// HDRLog writes the histogram of that name as an HdrHistogram interval log,
// version 1.3, which the HdrHistogram tools of every language read: one line per
// interval, or one line of the whole where the record kept no intervals.
//
// Times are in seconds since the window opened, for which the record's time
// stands; the greatest value of a line is in ms, as those tools expect. A name
// that the record lacks is an ErrParams.
func HDRLog(w io.Writer, rec *record.Record, name string) error {
	h, ok := rec.Histogram(name)
	if !ok {
		var names []string
		for _, h := range rec.Histograms {
			names = append(names, h.Name)
		}
		return fmt.Errorf("%w: histogram: %q is not in the record; accepted: %s", zkbench.ErrParams, name, strings.Join(names, ", "))
	}
	whole, err := h.Decode()
	if err != nil {
		return fmt.Errorf("%s: %w", rec.Name(), err)
	}
	window := rec.Value(record.Duration)

	var p page
	start := float64(rec.Time.UnixMilli()) / 1000
	p.linef("#[Logged with zkbench: %s of %s, in %s]", name, oneLine(rec.Name()), h.Unit)
	p.linef("#[Histogram log format version %s]", hdrhistogram.HISTOGRAM_LOG_FORMAT_VERSION)
	p.linef("#[StartTime: %.3f (seconds since epoch), %s]", start, rec.Time.UTC().Format(time.RFC3339))
	p.linef("#[BaseTime: %.3f (seconds since epoch)]", start)
	p.linef(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	line := func(from, length float64, h *hdrhistogram.Histogram, encoded string) {
		p.linef("%.3f,%.3f,%.3f,%s", from, length, float64(h.Max())/hdrhistogram.MsToNsRatio, encoded)
	}
	if len(h.Parts) == 0 {
		line(0, window, whole, h.HDR)
	}
	empty := hdrhistogram.Import(whole.Export())
	empty.Reset()
	for i, part := range h.Parts {
		values := empty
		if part == "" {
			nothing, err := record.EncodeHistogram(name, h.Unit, empty)
			if err != nil {
				return err
			}
			part = nothing.HDR
		} else if values, err = (record.Histogram{Name: name, HDR: part}).Decode(); err != nil {
			return fmt.Errorf("%s, interval %d: %w", rec.Name(), i, err)
		}
		from, length := float64(i)*h.Interval.Seconds(), h.Interval.Seconds()
		if last := i == len(h.Parts)-1; last && window > from {
			length = min(length, window-from)
		}
		line(from, length, values, part)
	}
	return p.flush(w)
}
