package suite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
)

func recordOf(bits string, process int, ns float64) *record.Record {
	r := record.New()
	r.Workload, r.Env.GOMAXPROCS, r.Env.Commit, r.Process.Index = "Sender", 2, "abc", process
	r.Axes = recordtest.Axes("curve=BN254/bits=" + bits + "/in=2/out=2/proof=csp/exec=pool/workers=2")
	r.Metrics = []record.Metric{
		record.Throughput.Metric(1e9 / ns), record.LatencyMean.Metric(ns), record.Allocs.Metric(7), record.AllocBytes.Metric(100),
	}
	return r
}

func TestResults(t *testing.T) {
	failed := recordOf("64", 1, 1e6)
	failed.Status = record.Failed
	row := suite.Results(suite.Header{Suite: "some", Session: "one", Begun: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, []*record.Record{recordOf("32", 0, 2e6), recordOf("64", 0, 8e6), recordOf("32", 1, 4e6), recordOf("32", 2, 3e6), failed})
	got := make(map[string]string)
	for i, c := range row.Columns {
		got[c] = row.Values[i]
	}
	const a, b = "Sender/curve=BN254/bits=32/in=2/out=2/proof=csp/exec=pool/workers=2/cpus=2 ", "Sender/curve=BN254/bits=64/in=2/out=2/proof=csp/exec=pool/workers=2/cpus=2 "
	want := map[string]string{
		"timestamp": "2026-01-02 03:04:05", "session": "one", "suite": "some", "commit": "abc", "processes": "5", "failed": "1",
		a + "tps": "333.333", a + "lat-avg ms": "3", a + "allocs": "7", a + "RAM bytes": "100",
		b + "tps": "125", b + "lat-avg ms": "8", b + "allocs": "7", b + "RAM bytes": "100",
	}
	golden.Equal(t, "results", want, got)
}

// TestResultsOfKeys: the times and the sizes of the two keys of a circuit have columns of their own.
func TestResultsOfKeys(t *testing.T) {
	r := record.New()
	r.Workload, r.Axes = "Gates", recordtest.Axes("gates=1024/system=ultra/cpus=1")
	r.Metrics = []record.Metric{
		record.StageTime("keys").Metric(5), record.StageTime("keys/verifying").Metric(2), record.StageTime("keys/proving").Metric(3),
		record.ProvingKeySize.Metric(1000), record.VerifyingKeySize.Metric(200),
	}
	row := suite.Results(suite.Header{}, []*record.Record{r})
	const name = "Gates/gates=1024/system=ultra/cpus=1 "
	golden.Equal(t, "columns", []string{name + "proving-key bytes", name + "verifying-key bytes", name + "keys s", name + "keys/verifying s", name + "keys/proving s"}, row.Columns[6:])
	golden.Equal(t, "values", []string{"1000", "200", "5", "2", "3"}, row.Values[6:])
}

// TestEnvironments: figures of unlike machines or builds are never one.
func TestEnvironments(t *testing.T) {
	recs := []*record.Record{recordOf("32", 0, 2e6), recordOf("32", 1, 4e6), recordOf("32", 2, 8e6)}
	recs[1].Env.Commit = "def"
	recs[2].Env.GOGC = 10
	row := suite.Results(suite.Header{}, recs)
	var got []string
	for i, c := range row.Columns {
		if strings.HasSuffix(c, " lat-avg ms") {
			got = append(got, c[:strings.Index(c, "/")]+" "+row.Values[i])
		}
	}
	want := []string{"Sender 2", "Sender (environment 2) 4", "Sender (environment 3) 8"}
	golden.Equal(t, "results", want, got)
}

// TestHostsApart: figures of two hosts are never one, like as these may be, and stand under
// their names whatever stands before them.
func TestHostsApart(t *testing.T) {
	recs := []*record.Record{recordOf("32", 0, 2e6), recordOf("32", 0, 4e6), recordOf("32", 1, 6e6)}
	recs[0].Env.Host, recs[1].Env.Host, recs[2].Env.Host = "b", "a", "b"
	row := suite.Results(suite.Header{}, recs)
	var got []string
	for i, c := range row.Columns {
		if strings.HasSuffix(c, " lat-avg ms") {
			got = append(got, c[:strings.Index(c, "/")]+" "+row.Values[i])
		}
	}
	golden.Equal(t, "results", []string{"Sender (b) 4", "Sender (a) 4"}, got)
}

// TestPutRowAtOnce: of many at once none is lost.
func TestPutRowAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := suite.PutRow(path, "a", suite.Row{Columns: []string{"a"}, Values: []string{strconv.Itoa(i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	golden.Equal(t, "lines", 17, bytes.Count(must.Get(os.ReadFile(path))(t), []byte("\n")))
}

// TestPutRow: a file grows by rows and columns, a row of the same key takes the place of
// the one before; a damaged or foreign file is refused and kept.
func TestPutRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	for _, row := range []suite.Row{
		{Columns: []string{"a", "b"}, Values: []string{"1", "2"}},
		{Columns: []string{"a", "c"}, Values: []string{"3", "4,5"}},
		{Columns: []string{"a", "d"}, Values: []string{"1", "6"}},
	} {
		must.Do(t, suite.PutRow(path, "a", row))
	}
	read := func() string {
		return string(must.Get(os.ReadFile(path))(t))
	}
	golden.Equal(t, "file", "a,b,c,d\n1,,,6\n3,,\"4,5\",\n", read())
	for _, wrong := range []string{"a,b\n1,2,3\n", "b,c\n1,2\n"} {
		must.Do(t, os.WriteFile(path, []byte(wrong), 0o600))
		err := suite.PutRow(path, "a", suite.Row{Columns: []string{"a"}, Values: []string{"1"}})
		if !errors.Is(err, zkbench.ErrMalformed) || read() != wrong {
			t.Errorf("%q: %v, now %q", wrong, err, read())
		}
	}
	for _, row := range []suite.Row{{Columns: []string{"a"}}, {Columns: []string{"b"}, Values: []string{"1"}}} {
		must.Fail(t, suite.PutRow(path, "a", row), zkbench.ErrParams, "row")
	}
	must.Fail(t, suite.PutRow(filepath.Join(path, "none", "x.csv"), "a", suite.Row{Columns: []string{"a"}, Values: []string{"1"}}), must.ErrAny, "a file within a file")
}
