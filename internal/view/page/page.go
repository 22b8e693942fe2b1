// Package page shows records as one HTML page: the cases with the medians and the
// spread of their repetitions, what was found, the plots. Everything is in the one
// file, so that it opens without a network; nothing in it is asked for elsewhere, and
// a content security policy keeps it so. Handler serves the same page while a suite
// runs.
//
// Figures of unlike environments are never put into one table or one plot.
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

// Data is what a page shows.
type Data struct {
	Title   string
	Records []*record.Record
	// Command is the command line that measures a record's case again, empty where there is
	// none; Settings are how it was measured in words, each with its label. nil: not shown.
	Command  func(*record.Record) string
	Settings func(*record.Record) [][2]string
	// Progress of a suite that runs; nil: it has ended or was none.
	Progress *Progress
}

// Progress is how far a suite has come, in processes.
type Progress struct {
	Done    int     `json:"done"`
	Planned int     `json:"planned"`
	Failed  int     `json:"failed"`
	Running string  `json:"running"` // the case that is measured, in words
	Left    float64 `json:"left"`    // s, about how long the rest takes; 0: not known
	Stopped bool    `json:"stopped"` // nothing more will come; the suite has ended if all are done
}

//go:embed assets
var assets embed.FS

// scripts are one program in parts, in their order.
var scripts = []string{
	"dom.js", "format.js", "state.js", "progress.js", "head.js", "rows.js", "table.js", "case.js", "chart.js", "lines.js", "plots.js", "main.js",
}

// parts are what every page consists of beside its data.
type parts struct {
	Style   template.CSS
	Script  template.JS
	Licence string // of uPlot
	frame   *template.Template
}

// loadParts reads the embedded files. They are there, and parse, or the tests fail.
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
	// Ours and uPlot's, not a user's.
	return &parts{template.CSS(style), template.JS(script), string(licence), frame}, nil
}

// joined are embedded files one after the other, each with the end of a line.
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

// policy lets run only the page's own script and style, and lets nothing be fetched
// but, where the page is served, its data.
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
	data, err := json.Marshal(v) // which writes <, > and & as \u003c, \u003e and \u0026
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

// Write writes the page, one file that needs nothing else.
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
