package record_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func sample() *record.Record {
	return &record.Record{
		Schema: record.Schema, ID: "ID", Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Workload: "Sender", Case: "curve=BN254/bits=32",
		Axes:    record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "32"}},
		Env:     record.Env{OS: "linux", Arch: "amd64", Path: "avx512", Cores: 2, GOMAXPROCS: 2, Go: "go1.26", GOGC: 100, GOMEMLIMIT: -1},
		Seed:    7,
		Process: record.Process{Side: "old", Index: 3},
		Status:  record.OK,
		Metrics: []record.Metric{record.ProofSize.Metric(1416)},
	}
}

// The form in the file is a promise to later versions, so it is compared whole.
func TestWriterForm(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, record.Write(&b, sample()))
	const want = `{"schema":1,"id":"ID","time":"2026-02-03T04:05:06Z","workload":"Sender","case":"curve=BN254/bits=32",` +
		`"axes":{"curve":"BN254","bits":"32"},` +
		`"env":{"os":"linux","arch":"amd64","path":"avx512","cores":2,"gomaxprocs":2,"go":"go1.26","gogc":100,"gomemlimit":-1},` +
		`"seed":7,"process":{"side":"old","index":3},"status":"ok",` +
		`"metrics":[{"name":"proof","unit":"B/proof","value":1416,"kind":"exact"}]}` + "\n"
	golden.Equal(t, "text", want, b.String())
}

type countingWriter struct{ writes []string }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes = append(w.writes, string(p))
	return len(p), nil
}

func TestWriterWritesEachRecordAtOnce(t *testing.T) {
	var w countingWriter
	for n := 1; n <= 3; n++ {
		must.Do(t, record.Write(&w, sample()))
		if len(w.writes) != n || !strings.HasSuffix(w.writes[n-1], "}\n") {
			t.Fatalf("after %d records: %d writes", n, len(w.writes))
		}
	}
}

func TestReaderReadsWhatWriterWrites(t *testing.T) {
	var b bytes.Buffer
	want := []*record.Record{sample(), record.New()}
	want[0].Percentiles = record.NearestRank
	want[1].Axes = record.Axes{{Key: `odd "key`, Value: "zürich\n"}}
	want[1].Findings = []record.Finding{{Name: "n", Text: "t"}}
	for _, r := range want {
		must.Do(t, record.Write(&b, r))
	}
	got := must.Get(record.ReadAll(&b))(t)
	golden.Equal(t, "records", want, got, cmpopts.EquateComparable(record.Quantity{}))
	if want[1].ID == record.New().ID {
		t.Error("two records have the same id")
	}
}

// TestPercentile: the nearest rank, of values that a histogram tells apart.
func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		n    int64
		p    float64
		rank int64
	}{
		{1, 50, 1},
		{2, 50, 1},
		{3, 50, 2},
		{100, 99, 99},
		{101, 99, 100},
		{1000, 99.9, 999},
		{1001, 99.9, 1000},
		{3861, 99.9, 3858},
		{10_000, 99.99, 9999},
		{1000, 0, 1},
		{1000, 100, 1000},
		{20, 95, 19},
	} {
		h := hdrhistogram.New(1, 1<<20, 5)
		for v := range test.n {
			must.Do(t, h.RecordValue(v+1))
		}
		golden.Equal(t, fmt.Sprintf("P%v of %d", test.p, test.n), float64(test.rank), record.Percentile(h, test.p))
		golden.Equal(t, fmt.Sprintf("P%v of %d is carried", test.p, test.n), test.p == 50 || test.rank < test.n, record.Carries(test.p, test.n))
		golden.Equal(t, fmt.Sprintf("P%v of %d rests on few", test.p, test.n), test.p > 0 && test.n-test.rank < 10, record.Few(test.p, test.n))
	}
	golden.Equal(t, "of none", 0, record.Percentile(hdrhistogram.New(1, 10, 3), 50))
}

// TestOtherPercentiles: a record of another definition is read with percentiles of this one, so
// that nothing but the definition makes no step.
func TestOtherPercentiles(t *testing.T) {
	h := hdrhistogram.New(1, 1<<20, 5)
	for v := range int64(3861) {
		must.Do(t, h.RecordValue(v+1))
	}
	rec := record.New()
	rec.Histograms = []record.Histogram{must.Get(record.EncodeHistogram(record.HistLatency, "ns", h))(t)}
	rec.Metrics = []record.Metric{record.LatencyP999.Metric(float64(h.ValueAtPercentile(99.9))), record.LatencyMean.Metric(5), record.ResponseP99.Metric(7)}
	for definition, want := range map[string]float64{"": 3858, record.NearestRank: float64(h.ValueAtPercentile(99.9))} {
		var b bytes.Buffer
		rec.Percentiles = definition
		must.Do(t, record.Write(&b, rec))
		got := must.Get(record.ReadAll(&b))(t)[0]
		golden.Equal(t, "P99.9, mean, response P99", [3]float64{want, 5, 7}, [3]float64{got.Value(record.LatencyP999), got.Value(record.LatencyMean), got.Value(record.ResponseP99)})
		golden.Equal(t, "definition", record.NearestRank, got.Percentiles)
	}
}

func TestReaderIgnoresUnknownFields(t *testing.T) {
	recs := must.Get(record.ReadAll(strings.NewReader("\n" + `{"schema":1,"status":"ok","stages":[{"name":"x"}],"seed":5}`)))(t)
	golden.Equal(t, "seed", 5, recs[0].Seed)
}

func TestReaderRefuses(t *testing.T) {
	good := `{"schema":1,"status":"ok"}` + "\n"
	for _, test := range []struct{ name, in, want string }{
		{"what=schema", good + `{"schema":2,"status":{}}` + "\n", "line 2 at byte 27: schema 2 is not known; accepted: schema 1"},
		{"what=truncated", good + `{"schema":1,"sta`, "line 2 at byte 27: truncated record"},
		{"what=foreign", "goos: linux\n", "line 1 at byte 0: not a record"},
		{"what=no schema", `{"name":"x"}` + "\n", "no schema; accepted: schema 1"},
		{"what=type", `{"schema":1,"status":"ok","seed":"x"}` + "\n", "not a record"},
		{"what=status", `{"schema":1,"status":"fine"}` + "\n", `status "fine" is not known; accepted: ok, failed, partial`},
		{"what=axes", `{"schema":1,"status":"ok","axes":{"a":1}}` + "\n", "value of a is not a string"},
		{"what=axis twice", `{"schema":1,"status":"ok","axes":{"a":"1","a":"2"}}` + "\n", "a occurs twice"},
		{"what=axes array", `{"schema":1,"status":"ok","axes":["a"]}` + "\n", "not an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := record.ReadAll(strings.NewReader(test.in))
			must.Fail(t, err, zkbench.ErrMalformed, "records")
			golden.Contains(t, fmt.Sprint(err), test.want)
		})
	}
}

func FuzzReader(f *testing.F) {
	var b bytes.Buffer
	must.Do(f, record.Write(&b, sample()))
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":1,"status":"ok","axes":null,"histograms":[{"hdr":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		recs, err := record.ReadAll(bytes.NewReader(in))
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "records")
		}
		for _, rec := range recs {
			must.Do(t, record.Write(io.Discard, rec), "write a record that was read")
		}
	})
}

func TestHistogramKeepsItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hdrhistogram.New(1, int64(time.Hour), 3)
		for _, v := range rapid.SliceOf(rapid.Int64Range(1, int64(time.Hour))).Draw(t, "values") {
			must.Do(t, h.RecordValue(v))
		}
		encoded := must.Get(record.EncodeHistogram("latency", "ns", h))(t)
		decoded := must.Get(encoded.Decode())(t)
		if !decoded.Equals(h) {
			t.Error("the decoded histogram differs")
		}
	})
}

func TestHistogramDecodeRefuses(t *testing.T) {
	for _, in := range []string{"", "!", "AAAA", "HISTFAAAAA=="} {
		must.FailGet((record.Histogram{Name: "latency", HDR: in}).Decode())(t, zkbench.ErrMalformed, "hdr=%q", in)
	}
}

func TestTooLarge(t *testing.T) {
	memory := (&zkbench.LimitError{What: "bytes of memory (what fits: 9 gates)", Estimate: 2, Max: 1}).Error()
	for _, test := range []struct {
		status record.Status
		err    string
		want   bool
	}{
		{record.Failed, memory, true},
		{record.Failed, (&zkbench.LimitError{What: "blocks of a message", Estimate: 2, Max: 1}).Error(), false},
		{record.Failed, "the child ended with signal: killed", false},
		{record.Partial, memory, false},
		{record.OK, "", false},
	} {
		golden.Equal(t, fmt.Sprintf("status=%s/error=%s", test.status, test.err), test.want, (&record.Record{Status: test.status, Error: test.err}).TooLarge())
	}
}
