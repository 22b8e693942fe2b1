package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// The kinds of files that Load distinguishes by their beginning.
const (
	notJSON       = iota
	jsonOther     // records, or nothing that is known
	jsonTest      // of go test -json
	jsonHyperfine // of hyperfine --export-json
)

// first decodes the first object of a JSON text. It returns nil if the text begins with none.
func first(text []byte) (object map[string]json.RawMessage) {
	if text[0] != '{' || json.NewDecoder(bytes.NewReader(text)).Decode(&object) != nil {
		return nil
	}
	return object
}

func has(object map[string]json.RawMessage, keys ...string) bool {
	for _, key := range keys {
		if object[key] == nil {
			return false
		}
	}
	return true
}

func kindOf(text []byte) int {
	object := first(text)
	switch {
	case text[0] != '{', !has(object, "schema") && bytes.Contains(text, []byte("\nBenchmark")): // lines of a log
		return notJSON
	case has(object, "Action") && !has(object, "schema"):
		return jsonTest
	case has(object, "results") && !has(object, "schema"):
		return jsonHyperfine
	}
	return jsonOther
}

// foreignTool returns the name of another tool whose file begins with the text, or "". The figures of
// these tools have one value for each benchmark, or an estimate, and no runs to compare.
func foreignTool(text []byte) string {
	object := first(text)
	line, _, _ := strings.Cut(string(text), "\n")
	switch {
	case has(object, "context", "benchmarks"), strings.HasPrefix(line, "name,iterations,real_time,cpu_time,"):
		return "Google Benchmark; repeat its program by compare --run"
	case has(object, "reason", "id") || has(object, "mean", "median", "std_dev"), strings.HasPrefix(line, "group,function,value,throughput_num,"):
		return "criterion; repeat its program by compare --run"
	}
	return ""
}

// loadGoTest reads the output in a stream of `go test -json`.
func loadGoTest(name string, data []byte) (*Set, error) {
	var output bytes.Buffer
	for events := json.NewDecoder(bytes.NewReader(data)); ; {
		var e struct{ Output string }
		err := events.Decode(&e)
		if errors.Is(err, io.EOF) {
			return loadLog(name, output.Bytes())
		}
		if err != nil {
			rest := bytes.TrimLeft(data[events.InputOffset():], " \t\r\n")
			return nil, malformed(data, 1+bytes.Count(data[:len(data)-len(rest)], []byte{'\n'}), "not an event of go test -json: "+err.Error())
		}
		output.WriteString(e.Output)
	}
}

// hyperfine is the part of hyperfine's export that is compared. Times are in seconds.
type hyperfine struct {
	Results []struct {
		Command    string
		Times      []float64
		ExitCodes  []*int `json:"exit_codes"`
		Parameters map[string]any
	}
}

// loadHyperfine reads the export of hyperfine: a case for each command, whose figures are the times of its runs.
func loadHyperfine(name string, data []byte) (*Set, error) {
	var file hyperfine
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, &zkbench.DecodeError{Path: "export of hyperfine", Reason: err.Error()}
	}
	s := newSet(name, Hyperfine)
	for i, result := range file.Results {
		if result.Command == "" || len(result.Times) == 0 {
			return nil, &zkbench.DecodeError{Path: fmt.Sprintf("export of hyperfine: results[%d]", i), Reason: "it has no command or no times"}
		}
		failed, first := 0, 0
		for j, seconds := range result.Times {
			if j < len(result.ExitCodes) && (result.ExitCodes[j] == nil || *result.ExitCodes[j] != 0) {
				if failed++; failed == 1 {
					first = j + 1
				}
				continue
			}
			s.add(key{name: result.Command, metric: record.RunTime.Name()}, record.RunTime.Unit(), false, record.RunTime.Better(), point{value: 1e9 * seconds})
		}
		if failed > 0 {
			s.addUnfit(true, fmt.Sprintf("%s: %d of %d runs failed, the first: run %d", result.Command, failed, len(result.Times), first))
		}
	}
	if len(file.Results) == 0 {
		return nil, &zkbench.DecodeError{Path: "export of hyperfine", Reason: "it has no results"}
	}
	return s, nil
}
