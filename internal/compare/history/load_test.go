package history_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare/history"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// tree writes files into a new directory. An empty file becomes a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if text == "" {
			must.Do(t, os.MkdirAll(path, 0o777))
			continue
		}
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

func jsonl(t *testing.T, recs ...*record.Record) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range recs {
		must.Do(t, record.Write(&b, r))
	}
	return b.String()
}

func TestLoad(t *testing.T) {
	first, second, third := jsonl(t, sample("1", 0)), jsonl(t, sample("2", 1)), jsonl(t, sample("3", 2))
	heavy := sample("4", 3)
	heavy.Histograms = []record.Histogram{{Name: "latency", HDR: "x"}}
	dir := tree(t, map[string]string{
		"records.jsonl": first,
		"benchmark_logs_2026-01-02_00-00-00/records.jsonl": second + "\n" + third,
		"benchmark_logs_2026-01-03_00-00-00/records.jsonl": jsonl(t, heavy) + third[:40],
		"benchmark_logs_2026-01-04_00-00-00":               "",
		"benchmark_logs_notes.txt":                         "no folder",
		"other/records.jsonl":                              first,
		"single.jsonl":                                     strings.TrimSuffix(first, "\n"), // whole, without its end
	})
	for _, test := range []struct {
		path  string
		ids   string
		notes []string
	}{
		{".", "1 2 3 4", []string{
			filepath.Join(dir, "benchmark_logs_2026-01-04_00-00-00") + " has no records.jsonl yet, and is left out",
			filepath.Join(dir, "benchmark_logs_2026-01-03_00-00-00", "records.jsonl") + ": line 2, the last one, is cut off; read: 1 record before it",
		}},
		{"benchmark_logs_2026-01-02_00-00-00", "2 3", nil},
		{"single.jsonl", "1", nil},
	} {
		recs, notes, err := history.Load([]string{filepath.Join(dir, test.path)})
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		var ids []string
		for _, r := range recs {
			ids = append(ids, r.ID)
			if r.Histograms != nil {
				t.Errorf("%s: a histogram is kept", test.path)
			}
		}
		golden.Equal(t, test.path+": records", test.ids, strings.Join(ids, " "))
		golden.Equal(t, test.path+": notes", strings.Join(test.notes, "\n"), strings.Join(notes, "\n"))
	}
}

func TestLoadRefuses(t *testing.T) {
	good := jsonl(t, sample("1", 0))
	dir := tree(t, map[string]string{
		"empty":                         "",
		"none/records.jsonl":            "\n",
		"cut.jsonl":                     good[:50],
		"damaged/records.jsonl":         good + good[:40] + "\n" + good,
		"foreign.jsonl":                 good + `{"schema":7}` + "\n",
		"foreign-without-an-end.jsonl":  `{"schema":7}`,
		"records.txt":                   good,
		"benchmark_logs_a/records.json": good,
	})
	for _, test := range []struct {
		path      string
		malformed bool   // a *zkbench.DecodeError, else a *argument.ValueError
		want      string // within the message
	}{
		{"missing", false, "this one does not exist"},
		{"empty", false, "this one has no records"},
		{"none", false, "this one has no records"},
		{"cut.jsonl", false, "this one has no records"},
		{"records.txt", false, ".jsonl"},
		{"benchmark_logs_a", false, "this one has no records"},
		{"damaged", true, "records.jsonl: malformed encoding: line 2 "},
		{"foreign.jsonl", true, "foreign.jsonl: malformed encoding: line 2 at byte"},
		{"foreign-without-an-end.jsonl", true, "schema 7 is not known; accepted: schema 1"},
	} {
		path := filepath.Join(dir, test.path)
		_, _, err := history.Load([]string{path})
		var ok bool
		if test.malformed {
			_, ok = errors.AsType[*zkbench.DecodeError](err)
		} else {
			_, ok = errors.AsType[*argument.ValueError](err)
		}
		if !ok || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: %v, want %q under its name", test.path, err, test.want)
		}
	}
}
