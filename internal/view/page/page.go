// Package page shows records as one HTML page: cases with the medians and the spread of
// their repetitions, findings, and plots. The page is one file and loads nothing from
// elsewhere, which its content security policy enforces. Handler serves the same page
// while a suite runs.
//
// Figures from different environments never share a table or a plot.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
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
	// Progress is the progress of the suite that is running, or nil if no suite is running.
	Progress *Progress
}

// Progress says how many of a suite's processes are done, planned and failed, and what is
// running.
type Progress struct {
	Done    int     `json:"done"`
	Planned int     `json:"planned"`
	Failed  int     `json:"failed"`
	Running string  `json:"running"` // description of the case that is being measured
	Left    float64 `json:"left"`    // s, estimated time for the rest; 0: not known
	Stopped bool    `json:"stopped"` // no more records will come; the suite has ended if all are done
}

//go:embed assets
var assets embed.FS

// scripts lists the parts of the page's program in order.
var scripts = []string{
	"dom.js", "format.js", "state.js", "progress.js", "head.js", "rows.js", "table.js", "case.js", "chart.js", "lines.js", "plots.js", "main.js",
}

// parts holds what every page has in addition to its data.
type parts struct {
	Style   template.CSS
	Script  template.JS
	Licence string // of uPlot
	frame   *template.Template
}

// loadParts reads and parses the embedded files. The tests show that this does not fail.
func loadParts() (*parts, error) {
	style, errStyle := joined("uplot/uPlot.min.css", "page.css")
	library, errLibrary := joined("uplot/uPlot.iife.min.js")
	script, errScript := joined(scripts...)
	licence, errLicence := assets.ReadFile("assets/uplot/LICENSE")
	frame, errFrame := template.ParseFS(assets, "assets/page.html")
	if err := errors.Join(errStyle, errLibrary, errScript, errLicence, errFrame); err != nil {
		return nil, err
	}
	script = library + "(function () {\n'use strict';\n" + script + "})();\n"
	// The style and the script are ours and uPlot's, and contain nothing from a user.
	return &parts{template.CSS(style), template.JS(script), string(licence), frame}, nil
}

// joined returns embedded files one after the other, with a line feed after each.
func joined(names ...string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		raw, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		all.WriteString(string(raw) + "\n")
	}
	return all.String(), nil
}

// policy returns the content security policy: only the page's own script and style run, and
// nothing is fetched except, if the page is served, its data.
func (p *parts) policy(served bool) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	connect := "'none'"
	if served {
		connect = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src %s; base-uri 'none'; form-action 'none'",
		hash(string(p.Script)), hash(string(p.Style)), connect)
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
		Title, Policy string
		Served        bool
		Data          template.JS
	}{p, v.Title, p.policy(served), served, template.JS(data)})
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
