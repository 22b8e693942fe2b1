// Command sbom writes what a program of a release contains as a software bill of materials, in the
// format CycloneDX 1.6:
//
//	go run -C tools ./sbom PROGRAM NOTICES DOCUMENT
//
// It takes modules and versions from the build information of PROGRAM, and licences and the parts
// that are no modules from the table in NOTICES, which is THIRD_PARTY_NOTICES. The same program
// gives the same bytes. A module that NOTICES lacks is an error.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "sbom: accepted: PROGRAM NOTICES DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func write(program, notices, document string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bytes, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	table, err := os.ReadFile(notices)
	if err != nil {
		return err
	}
	d, err := describe(info, sha256.Sum256(bytes), partsOf(string(table)))
	if err != nil {
		return err
	}
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(out, '\n'), 0o644)
}

// part is a line of the table in THIRD_PARTY_NOTICES.
type part struct {
	name, version string
	kinds         []string // identifiers of SPDX
}

var row = regexp.MustCompile(`(?m)^(\S.*?) {2,}(v\S+|go\S+) {2,}(\S.*)$`)

// partsOf returns the lines of the table in a text of THIRD_PARTY_NOTICES.
func partsOf(notices string) (all []part) {
	table, _, _ := strings.Cut(notices, "\n"+strings.Repeat("=", 98))
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		all = append(all, part{m[1], m[2], strings.Split(m[3], ", ")})
	}
	return all
}

// The fields of CycloneDX 1.6 that a document has.
type (
	document struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Ref        string     `json:"bom-ref"`
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []license  `json:"licenses,omitempty"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	license struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// describe returns the document of a program with this build information and SHA-256.
func describe(info *debug.BuildInfo, digest [sha256.Size]byte, parts []part) (*document, error) {
	program := library(info.Main.Path, info.Main.Version, []string{"Apache-2.0"})
	program.Type = "application"
	program.Hashes = []hash{{"SHA-256", hex.EncodeToString(digest[:])}}
	for _, s := range info.Settings {
		program.Properties = append(program.Properties, property{"go:build:" + s.Key, s.Value})
	}
	d := &document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{program}}
	var wrong []error
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == m.Path && p.version == m.Version })
		if at < 0 {
			wrong = append(wrong, fmt.Errorf("the notices lack %s %s", m.Path, m.Version))
			continue
		}
		d.Components = append(d.Components, library(m.Path, m.Version, parts[at].kinds))
	}
	for _, p := range parts {
		switch {
		case strings.HasPrefix(p.name, "Go: "):
			if p.version != info.GoVersion {
				wrong = append(wrong, fmt.Errorf("the program is built by %s, the notices are of %s", info.GoVersion, p.version))
			}
			d.Components = append(d.Components, library("std", p.version, p.kinds))
		case !strings.Contains(p.name, "."): // no module
			c := library(p.name, p.version, p.kinds)
			c.PURL = "pkg:npm/" + strings.ToLower(p.name) + "@" + strings.TrimPrefix(p.version, "v")
			c.Ref = c.PURL
			d.Components = append(d.Components, c)
		}
	}
	slices.SortFunc(d.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	all := dependency{Ref: program.Ref}
	for _, c := range d.Components {
		all.On = append(all.On, c.Ref)
	}
	d.Dependencies = []dependency{all}
	return d, errors.Join(wrong...)
}

// library returns the component of a Go module.
func library(path, version string, kinds []string) component {
	// A name in a package URL of Go is in lower case, and the version of Go has no prefix there.
	purl := "pkg:golang/" + strings.ToLower(path) + "@" + url.QueryEscape(strings.TrimPrefix(version, "go"))
	c := component{Ref: purl, Type: "library", Name: path, Version: version, PURL: purl}
	for _, id := range kinds {
		var l license
		l.License.ID = id
		c.Licenses = append(c.Licenses, l)
	}
	return c
}
