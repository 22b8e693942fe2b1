// Package web has what the pages that zkbench writes have in common: colours, tables that can be sorted, charts, and a
// content security policy. Each page is one file that loads nothing from elsewhere.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
)

//go:embed assets
var assets embed.FS

// Parts holds the style and the script of a page.
type Parts struct {
	Style   template.CSS
	Script  template.JS
	Licence string // of uPlot, the library that scales the charts
}

// Load returns the style and the script that all pages share, followed by files of the page's own: styles in CSS, and
// scripts in JavaScript. The scripts share one scope, in which the names of dom.js, format.js, chart.js and sortable.js
// are known.
func Load(own fs.FS, styles, scripts []string) (*Parts, error) {
	shared, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	read := func(from fs.FS, names ...string) string {
		text, wrong := joined(from, names)
		err = errors.Join(err, wrong)
		return text
	}
	style := read(shared, "uplot/uPlot.min.css", "base.css", "sortable.css") + read(own, styles...)
	script := read(shared, "uplot/uPlot.iife.min.js") + "(function () {\n'use strict';\n" +
		read(shared, "dom.js", "format.js", "sortable.js", "chart.js") + read(own, scripts...) + "})();\n"
	licence := read(shared, "uplot/LICENSE")
	// The style and the script are ours and uPlot's, and contain nothing from a user.
	return &Parts{template.CSS(style), template.JS(script), strings.TrimSuffix(licence, "\n")}, err
}

// joined returns files one after the other, with a line feed after each.
func joined(from fs.FS, names []string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		raw, err := fs.ReadFile(from, name)
		if err != nil {
			return "", err
		}
		all.WriteString(string(raw) + "\n")
	}
	return all.String(), nil
}

// Policy returns the content security policy of the page: only its own script and style run, and nothing is fetched
// except, if the page is served, its data.
func (p *Parts) Policy(served bool) string {
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
