package outdir_test

import (
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/outdir"
)

// measured returns a record such as a short run writes.
func measured(t *testing.T, caseName string) *record.Record {
	t.Helper()
	latencies := make([]int64, 100)
	for i := range latencies {
		latencies[i] = int64(i+1) * 1e6
	}
	rec := record.New()
	rec.Workload, rec.Case = "TransferProofGeneration", caseName
	rec.Counters = []record.Counter{{Name: record.CountStarted, Value: 100}, {Name: record.CountDone, Value: 100}}
	rec.Metrics = []record.Metric{
		record.Throughput.Metric(20),
		record.LatencyMean.Metric(50e6),
	}
	rec.Histograms = []record.Histogram{recordtest.Histogram(t, record.HistLatency, latencies...)}
	rec.Series = []record.Series{record.Throughput.Series(time.Second, []float64{20, 21})}
	return rec
}

// files returns the paths of all files below dir, with slashes.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, relErr := filepath.Rel(dir, path)
			all, err = append(all, filepath.ToSlash(rel)), relErr
		}
		return err
	}))
	slices.Sort(all)
	return all
}

func TestDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	o := must.Get(outdir.Create(dir))(t)
	failed := record.New()
	failed.Workload, failed.Case, failed.Status, failed.Error = "Sender", "mix=issue:1/workers=2", record.Failed, "set-up: planted"
	open := measured(t, "bits=8/workers=1")
	open.Histograms = append(open.Histograms, record.Histogram{Name: record.HistResponse, Unit: "ns", HDR: open.Histograms[0].HDR})
	recs := []*record.Record{measured(t, "bits=8/workers=1"), failed, open}
	for i, rec := range recs {
		must.Do(t, o.Add(rec))
		// The record is in the file before the next case begins.
		data, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
		if err != nil || strings.Count(string(data), "\n") != i+1 {
			t.Fatalf("after %d records the file holds %q, error %v", i+1, data, err)
		}
	}
	must.Do(t, o.Close())
	views := func(dir string, names ...string) []string {
		for i := range names {
			names[i] = dir + "/" + names[i]
		}
		return names
	}
	want := slices.Concat(
		[]string{"bench.txt", "records.jsonl", "results.csv", "summary.txt"},
		views("sender/mix=issue_1_workers=2", "report.txt"),
		views("transfer-proof-generation/bits=8_workers=1", "histogram.svg", "latency.hlog", "percentiles.svg", "report.txt", "timeline.svg"),
		views("transfer-proof-generation/bits=8_workers=1-2", "histogram.svg", "latency.hlog", "percentiles.svg", "report.txt", "response.hlog", "timeline.svg"),
	)
	slices.Sort(want)
	golden.Equal(t, "files", want, files(t, dir))

	file := must.Get(os.Open(filepath.Join(dir, "records.jsonl")))(t)
	defer file.Close()
	got := must.Get(record.ReadAll(file))(t)
	golden.Equal(t, "records", recs, got, cmpopts.EquateComparable(record.Quantity{}))
	table := must.Get(os.Open(filepath.Join(dir, "results.csv")))(t)
	defer table.Close()
	golden.Equal(t, "rows of results.csv", 1+len(recs), len(must.Get(csv.NewReader(table).ReadAll())(t)))
	bench := must.Get(os.Open(filepath.Join(dir, "bench.txt")))(t)
	defer bench.Close()
	results := 0
	for r := benchfmt.NewReader(bench, "bench.txt"); r.Scan(); {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(line)
		case *benchfmt.Result:
			results++
		}
	}
	golden.Equal(t, "results in bench.txt", 2, results)
}

func TestWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the first leaves no records, so the second may use the directory
		o := must.Get(outdir.Create(dir))(t)
		must.Do(t, o.Close())
	}
	golden.Equal(t, "files", []string{"records.jsonl"}, files(t, dir))
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	used := write("used/records.jsonl", "{}\n")
	file := write("file", "")
	readonly := filepath.Join(dir, "readonly")
	must.Do(t, os.Mkdir(readonly, 0o555))
	for _, test := range []struct{ name, dir, says string }{
		{"dir=used", filepath.Dir(used), used + " holds records of another run; accepted: a directory without records"},
		{"dir=file", file, "file"},
		{"dir=below file", filepath.Join(file, "x"), "file"},
		{"dir=readonly", readonly, "readonly"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.dir == readonly && (runtime.GOOS == "windows" || os.Geteuid() == 0) {
				t.Skip("this user may write anywhere")
			}
			_, err := outdir.Create(test.dir)
			if err == nil || !strings.HasPrefix(err.Error(), "out: ") || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line out: ...%s", err, test.says)
			}
		})
	}
	golden.Equal(t, "records of the other run", "{}\n", string(must.Get(os.ReadFile(used))(t)))
}

func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	o := must.Get(outdir.Create(dir))(t)
	defer o.Close()
	rec := measured(t, "bits=8")
	rec.Histograms[0].HDR = "AAAA"
	if err := o.Add(rec); err == nil || !strings.Contains(err.Error(), "out: report.txt: ") {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "records.jsonl")); err != nil || len(data) == 0 {
		t.Errorf("the record is lost: %q, error %v", data, err)
	}
}
