package text

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// HDRLog writes the record's histogram with the given name as an HdrHistogram interval log,
// version 1.3, which the HdrHistogram tools of every language read. The log has one line for
// each interval, or a single line if the record has no intervals.
//
// Times are in seconds since the window opened. The log's base time is the record's time; readers
// take it for the time at which the window opened. The maximum of a line is in ms, as the tools expect.
// HDRLog returns ErrParams if the record has no such histogram.
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

// CSV writes a header and one row for each record. The columns are the record's identification,
// its coordinates, its counters and its metrics with their unit, for example latency-p99 [ns].
// The metrics may give the memory and the processor time of different processes. The column
// "whose" says which process each metric is about. The header has the coordinates, counters and
// metrics of all records, each once, in order of first appearance. A cell is empty if the
// record does not have the value. Figures have all their digits.
func CSV(w io.Writer, recs []*record.Record) error {
	var axes, counters, metrics []string
	add := func(names *[]string, name string) {
		if !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
	}
	for _, rec := range recs {
		for _, a := range rec.Axes {
			add(&axes, a.Key)
		}
		for _, c := range rec.Counters {
			add(&counters, c.Name)
		}
		for _, m := range rec.Metrics {
			add(&metrics, withUnit(m))
		}
	}
	out := csv.NewWriter(w)
	// The writer keeps the first error for the end.
	_ = out.Write(slices.Concat([]string{"id", "time", "session", "side", "process", "workload"}, axes,
		[]string{"seed", "status", "error", "whose"}, counters, metrics))
	for _, rec := range recs {
		line := []string{
			rec.ID, rec.Time.UTC().Format(time.RFC3339Nano), rec.Process.Session, rec.Process.Side,
			strconv.Itoa(rec.Process.Index), rec.Workload,
		}
		for _, key := range axes {
			value, _ := rec.Axes.Get(key)
			line = append(line, value)
		}
		line = append(line, strconv.FormatUint(rec.Seed, 10), string(rec.Status), rec.Error, ownersCell(rec))
		for _, name := range counters {
			cell := ""
			if c, ok := rec.Counter(name); ok {
				cell = strconv.FormatUint(c.Value, 10)
			}
			line = append(line, cell)
		}
		for _, name := range metrics {
			cell := ""
			if i := slices.IndexFunc(rec.Metrics, func(m record.Metric) bool { return withUnit(m) == name }); i >= 0 {
				cell = strconv.FormatFloat(rec.Metrics[i].Value, 'f', -1, 64)
			}
			line = append(line, cell)
		}
		_ = out.Write(line)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func withUnit(m record.Metric) string { return m.Name() + " [" + m.Unit() + "]" }

// longestName is the maximum length of a directory's name, in bytes. File systems accept 255.
const longestName = 180

// FileName converts text to a name for a file or directory that every operating
// system accepts. Characters that Windows does not accept, such as / and \, become _.
// If the name is too long, empty or reserved by Windows for a device, it ends in a
// digest of the text.
func FileName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, text)
	name = strings.TrimRight(name, ". ")
	digest := false
	switch stem, _, _ := strings.Cut(strings.ToLower(name), "."); stem {
	case "", "con", "prn", "aux", "nul",
		"com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
		"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9":
		digest = true
	}
	if len(name) > longestName {
		name, digest = strings.ToValidUTF8(name[:longestName], ""), true
	}
	if digest {
		sum := sha256.Sum256([]byte(text))
		name = strings.Trim(name, ".") + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}
