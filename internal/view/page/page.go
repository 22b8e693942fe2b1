// Package page shows records as one HTML page: cases with the medians and the spread of
// their repetitions, findings, and plots. The page is one file and loads nothing from
// elsewhere, which its content security policy enforces. Handler serves the same page
// while a suite runs.
//
// Figures from different environments never share a table or a plot.
package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/web"
)

// Data is the content of a page.
type Data struct {
	Title   string
	Records []*record.Record
	// Command returns the command line that measures a record's case again, or an empty string
	// if there is none. Settings returns how the record was measured, as pairs of a label and
	// a text. If one of the two functions is nil, the page does not show its result.
	Command  func(*record.Record) string
	Settings func(*record.Record) [][2]string
	// Headline chooses the case that the page begins with. If it is nil or chooses no case, the page chooses one.
	Headline *record.Headline
	// Phrase describes one operation of a workload in words, with the values of the given axes: "a transfer with two
	// inputs". If it is nil, the page writes the workload's name and key=value.
	Phrase func(workload string, axes record.Axes) string
	// Progress is the progress of the suite that is running, or nil if no suite is running.
	Progress *Progress
}

// Progress says how many of a suite's processes are done, planned, failed and refused, and what is
// running.
type Progress struct {
	Done    int     `json:"done"`
	Planned int     `json:"planned"`
	Failed  int     `json:"failed"`
	Refused int     `json:"refused"` // of cases that were refused
	Running string  `json:"running"` // description of the case that is being measured
	Left    float64 `json:"left"`    // s, estimated time for the rest; 0: not known
	Stopped bool    `json:"stopped"` // no more records will come; the suite has ended if all are done
}

//go:embed assets
var assets embed.FS

// scripts lists the parts of the page's program in order.
var scripts = []string{
	"state.js", "progress.js", "head.js", "rows.js", "table.js", "case.js", "lines.js", "plots.js", "answer.js", "main.js",
}

// parts holds what every page has in addition to its data.
type parts struct {
	*web.Parts
	frame *template.Template
}

// loadParts reads and parses the embedded files. The tests show that this does not fail.
func loadParts() (*parts, error) {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	shared, errShared := web.Load(own, []string{"page.css"}, scripts)
	frame, errFrame := template.ParseFS(own, "page.html")
	if err := errors.Join(errShared, errFrame); err != nil {
		return nil, err
	}
	return &parts{shared, frame}, nil
}

// html returns the page that shows v.
func (p *parts) html(v *view, served bool) ([]byte, error) {
	data, err := json.Marshal(v) // it writes <, > and & as \u003c, \u003e and \u0026
	if err != nil {
		return nil, fmt.Errorf("data of the page: %w", err)
	}
	var b bytes.Buffer
	err = p.frame.Execute(&b, struct {
		*parts
		Title, Sentence, Policy string
		Served                  bool
		Data                    template.JS
	}{p, v.Title, v.Answer.Sentence, p.Policy(served), served, template.JS(data)})
	return b.Bytes(), err
}

// Write writes the page to w as a complete HTML document.
func Write(w io.Writer, d Data) error {
	p, err := loadParts()
	if err != nil {
		return err
	}
	html, err := p.html(new(viewer).view(d), false)
	if err != nil {
		return err
	}
	_, err = w.Write(html)
	return err
}
