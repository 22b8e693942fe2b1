package recordtest

import (
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/result/record"
)

// odd has texts that are difficult for readers of records.
var odd = []string{"", " ", "a b", "a\nb", "a\tb", "\x00", "\x1b[2J", "\u2028", "\"", `\`, "=", "/", ",", "日本", "\U0001f600", "\xff", "a\xffb", "\xff\xfe", "NaN", "<script>", "-", "ns/op", "B/op", "stage prove", "latency-p99.9"}

// text generates any text, often an odd one.
func text() *rapid.Generator[string] { return rapid.OneOf(rapid.SampledFrom(odd), rapid.String()) }

// names generates names of figures: those that zkbench measures, and any others.
func names() *rapid.Generator[string] {
	var known []string
	for _, q := range record.Quantities() {
		known = append(known, q.Name())
	}
	return rapid.OneOf(rapid.SampledFrom(known), text())
}

// value generates any float64, including infinities and NaN.
func value() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64}))
}

func figures() *rapid.Generator[[]record.Metric] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Metric {
		kind := rapid.SampledFrom([]record.Kind{record.Exact, record.Timed}).Draw(t, "kind")
		whose := rapid.SampledFrom([]record.Whose{"", record.OfOperations, record.OfProver, record.OfProverCommand("prove"), "of tomorrow"}).Draw(t, "whose")
		return record.Reported(names().Draw(t, "name"), text().Draw(t, "unit"), value().Draw(t, "value"), kind).WithWhose(whose)
	}), 0, 8)
}

// Draw draws a record with the current schema number. The record may be invalid: names may occur twice,
// figures may be NaN or infinite, and texts may be any bytes.
func Draw(t *rapid.T) *record.Record {
	rec := record.New()
	rec.Workload = rapid.StringMatching(`[A-Z][A-Za-z0-9]{0,8}`).Draw(t, "workload")
	rec.Axes = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Axis {
		return record.Axis{Key: text().Draw(t, "key"), Value: text().Draw(t, "value")}
	}), 0, 4).Draw(t, "axes")
	rec.Case = rec.Axes.String()
	rec.Status = rapid.SampledFrom([]record.Status{record.OK, record.OK, record.OK, record.Failed, record.Partial}).Draw(t, "status")
	if rec.Status != record.OK {
		rec.Error = text().Draw(t, "error")
	}
	rec.Seed = rapid.Uint64().Draw(t, "seed")
	rec.Process.Plan = record.Plan{First: rapid.Int().Draw(t, "first"), Most: rapid.Int().Draw(t, "most")}
	rec.Metrics = figures().Draw(t, "figures")
	for _, name := range []string{record.CountStarted, record.CountDone, record.CountFailed} {
		rec.Counters = append(rec.Counters, record.Counter{Name: name, Value: rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, name)})
	}
	rec.Series = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Series {
		return record.Series{Name: names().Draw(t, "series"), Unit: "ns", Interval: time.Second, Values: rapid.SliceOfN(value(), 0, 3).Draw(t, "values")}
	}), 0, 2).Draw(t, "series")
	rec.Stages = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Stage {
		return record.Stage{Name: text().Draw(t, "stage"), Time: time.Duration(rapid.Int64().Draw(t, "time")), PeakRSS: rapid.Uint64().Draw(t, "peak"), Sizes: figures().Draw(t, "sizes")}
	}), 0, 3).Draw(t, "stages")
	rec.Findings = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Finding {
		return record.Finding{Name: text().Filter(utf8.ValidString).Draw(t, "finding"), Text: "found"}
	}), 0, 2).Draw(t, "findings")
	if rapid.Bool().Draw(t, "properties") {
		rec.Properties = &record.Properties{ProvedBits: value().Draw(t, "bits"), Audited: text().Draw(t, "audited")}
	}
	rec.Env.Quota = value().Draw(t, "quota")
	return rec
}

// Clear reports whether a record's names are unambiguous. Names of figures and keys of axes must be valid
// UTF-8, and none may occur twice.
func Clear(rec *record.Record) bool {
	var figures, keys []string
	for _, m := range rec.Metrics {
		figures = append(figures, m.Name())
	}
	for _, a := range rec.Axes {
		keys = append(keys, a.Key)
	}
	once := func(names []string) bool {
		return len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names) && !slices.ContainsFunc(names, func(n string) bool { return !utf8.ValidString(n) })
	}
	return once(figures) && once(keys)
}
