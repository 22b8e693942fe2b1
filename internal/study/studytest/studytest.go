// Package studytest holds the pages of studies to what all of them keep.
package studytest

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/study"
)

// Page returns the study's page of the records.
func Page(t testing.TB, s study.Study, recs []*record.Record) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Page(&b, recs))
	return b.String()
}

// Golden compares the page of the records with the golden one of the package under test.
func Golden(t testing.TB, s study.Study, recs []*record.Record) {
	t.Helper()
	golden.File(t, filepath.Join("testdata", s.File()+".golden"), Page(t, s, recs))
}

// Images checks that the page shows every chart once, and no other image. It returns how
// many there are.
func Images(t testing.TB, s study.Study, recs []*record.Record) int {
	t.Helper()
	text := Page(t, s, recs)
	charts := must.Get(s.Charts(recs))(t)
	for _, c := range charts {
		if strings.Count(text, "]("+c.File+")") != 1 {
			t.Errorf("%s is not shown once", c.File)
		}
		var svg bytes.Buffer
		if err := c.Write(&svg); err != nil || !strings.Contains(svg.String(), c.Title) {
			t.Errorf("%s: %d bytes, %v", c.File, svg.Len(), err)
		}
	}
	if n := strings.Count(text, "!["); n != len(charts) {
		t.Errorf("%d images, %d charts", n, len(charts))
	}
	return len(charts)
}

// Row returns the cells of the page's first row that has these, each a cell.
func Row(t testing.TB, text string, has ...string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		found := strings.HasPrefix(line, "| ")
		for _, h := range has {
			found = found && strings.Contains(line, "| "+h+" |")
		}
		if found {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			return cells
		}
	}
	t.Fatalf("no row with %q in\n%s", has, text)
	return nil
}
