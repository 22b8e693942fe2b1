package compare

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench/internal/result/record"
)

// loadLog reads benchmark output as people's logs have it: the format of
// https://go.dev/design/14313-benchmark-format among any other lines. Log lines between a
// benchmark's name and its figures are ignored, and so are line endings of Windows. Lines of the
// format that cannot be read are left out, and the set says how many there are.
func loadLog(name string, data []byte) (*Set, error) {
	s := newSet(name, Benchmark)
	lines := strings.Split(string(data), "\n")
	last := len(lines) - 1  // what follows the last line break: nothing, unless the file is cut
	pending, begun := "", 0 // the name of a benchmark whose figures are on a later line, and its line
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		words := strings.Fields(line)
		isName := len(words) > 0 && isBenchmarkName(words[0])
		figures := figuresAt(words, isName)
		lines[i] = line
		if isName && pending != "" && !strings.HasPrefix(words[0]+"-", pending+"-") && !strings.HasPrefix(words[0], pending+"/") {
			s.addUnread(begun, pending, "no figures follow")
			pending = ""
		}
		switch {
		case isFailure(line), isName && len(words) > 2 && words[1] == "---" && words[2] == "FAIL:":
			s.addUnfit(true, fmt.Sprintf("line %d: %s", i+1, line))
			pending, lines[i] = "", ""
		case strings.HasPrefix(strings.TrimSpace(line), "--- SKIP"):
			pending = ""
		case isConfig(line, "cpu:", "host:") && i > 0 && !isConfig(lines[i-1], "goos:", "goarch:", "pkg:", "cpu:", "host:"):
			lines[i] = "" // a line of a log: go test has them below the others
		case isName && len(line) >= bufio.MaxScanTokenSize:
			s.addUnread(i+1, line, "the line is too long")
		case strings.HasPrefix(line, `{"schema":`):
			s.addUnread(i+1, line, "a record among benchmark output")
		case i == last && (isName || pending != "" && figures >= 0):
			s.addUnread(i+1, line, "the file ends within this line, so it may be cut")
			lines[i] = ""
		case isName && figures > 0:
			pending, lines[i] = "", strings.Join(slices.Concat(words[:1], words[figures:]), " ")
		case isName && len(words) > 1 && isCount(words[1]):
			pending = "" // the reader says what is wrong
		case isName:
			pending, begun, lines[i] = words[0], i+1, ""
		case pending != "" && figures >= 0:
			pending, lines[i] = "", pending+" "+strings.Join(words[figures:], " ")
		case strings.HasPrefix(line, "Benchmark"):
			lines[i] = "" // a sentence
		}
	}
	if pending != "" {
		s.addUnread(begun, pending, "no figures follow")
	}
	r := benchfmt.NewReader(shortLines([]byte(strings.Join(lines, "\n")+"\n")), name)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			s.addUnread(rec.Line, lines[rec.Line-1], rec.Msg)
		case *benchfmt.Result:
			s.addEnv(record.Env{Host: rec.GetConfig("host"), OS: rec.GetConfig("goos"), Arch: rec.GetConfig("goarch"), CPU: rec.GetConfig("cpu")})
			_, line := rec.Pos()
			rec.Values = slices.DeleteFunc(rec.Values, func(v benchfmt.Value) bool {
				infinite := math.IsNaN(v.Value) || math.IsInf(v.Value, 0)
				if infinite {
					s.addUnread(line, lines[line-1], fmt.Sprintf("%v is no figure", v.Value))
				}
				return infinite
			})
			if err := s.addResult(rec); err != nil {
				s.addUnread(line, lines[line-1], err.Error())
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(s.samples) == 0 && len(s.unfit) == 0 {
		reason := "no record and no benchmark result in the file"
		if s.unread > 0 {
			reason += "; " + s.firstUnread
		}
		return nil, malformed(data, 1, reason)
	}
	for _, in := range s.samples {
		in.applyUnits(r.Units())
	}
	return s, nil
}

// isFailure reports whether a line says that a test or its process failed.
func isFailure(line string) bool {
	for _, begin := range []string{"--- FAIL", "FAIL\t", "FAIL ", "panic: ", "fatal error: ", "signal: "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return line == "FAIL"
}

// isConfig reports whether a line begins with one of the keys.
func isConfig(line string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(line, key) })
}

// isBenchmarkName reports whether a word is the name of a Go benchmark: Benchmark, and then no
// lower-case letter.
func isBenchmarkName(word string) bool {
	rest, found := strings.CutPrefix(word, "Benchmark")
	return found && rest != "" && !('a' <= rest[0] && rest[0] <= 'z') && !strings.HasSuffix(word, ":")
}

// figuresAt returns the index of the number of iterations in a line whose end has the figures of a
// benchmark: a number, and then values with their units. It returns -1 if the line has no figures.
// Text before the figures, from a log, is allowed if the first unit has a slash, as ns/op. If named
// is set, the first word is the name of a benchmark, and figures right behind it may have any unit.
func figuresAt(words []string, named bool) int {
	for i := range words {
		pairs := words[i+1:]
		if !isCount(words[i]) || len(pairs) == 0 || len(pairs)%2 != 0 || !(named && i == 1) && !strings.Contains(pairs[1], "/") {
			continue
		}
		whole := true
		for j := 0; j < len(pairs); j += 2 {
			_, wrong := strconv.ParseFloat(pairs[j], 64)
			_, number := strconv.ParseFloat(pairs[j+1], 64)
			whole = whole && wrong == nil && number != nil
		}
		if whole {
			return i
		}
	}
	return -1
}

func isCount(word string) bool {
	n, err := strconv.Atoi(word)
	return err == nil && n > 0
}

// addUnread notes a line that cannot be read.
func (s *Set) addUnread(line int, text, reason string) {
	if s.unread++; s.unread == 1 {
		s.firstUnread = fmt.Sprintf("line %d, %.60q: %s", line, text, reason)
	}
}

// notRead says how many lines of the set's file were not read, and why the first was not. It returns
// "" if all were.
func (s *Set) notRead() string {
	switch s.unread {
	case 0:
		return ""
	case 1:
		return s.Name + ", " + s.firstUnread
	}
	return fmt.Sprintf("%d lines of %s, the first: %s", s.unread, s.Name, s.firstUnread)
}
