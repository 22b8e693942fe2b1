package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNotices: THIRD_PARTY_NOTICES has every module that a program of a release contains, in the linked version, with
// the licences that the module has.
func TestNotices(t *testing.T) {
	parts, err := read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "THIRD_PARTY_NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	has := string(raw)
	for _, p := range parts {
		if !strings.Contains(has, "\n"+p.name+" "+p.version+"\n") {
			t.Errorf("THIRD_PARTY_NOTICES lacks %s %s", p.name, p.version)
		}
		t.Logf("%s %s: %s", p.name, p.version, strings.Join(p.kinds, ", "))
	}
	if want := render(parts); has != want {
		t.Error("THIRD_PARTY_NOTICES is not what make notices writes")
	}
	if len(parts) < 40 {
		t.Errorf("only %d parts", len(parts))
	}
	for _, within := range []string{
		"uPlot v1", "Go: runtime and standard library go1.", "SIL OPEN FONT LICENSE", "LiberationSans-Regular.ttf", "Creative Commons Attribution 4.0",
		"The FreeType Project LICENSE", "Canonical Ltd.", "Mark Harrower", "Sun Microsystems",
	} {
		if !strings.Contains(has, within) {
			t.Errorf("THIRD_PARTY_NOTICES lacks %q", within)
		}
	}
	if strings.Contains(has, "GNU GENERAL PUBLIC LICENSE") {
		t.Error("THIRD_PARTY_NOTICES has the text of a licence that was not chosen")
	}
}

const mit = "The MIT License\n\nPermission is hereby granted, free of charge, to any person\nobtaining a copy of this software\n"

// TestModule: a module needs a licence that is known, and its notices, and the licences of parts that it has from others, are
// taken too.
func TestModule(t *testing.T) {
	source := "package a\n\n/*\n * Redistribution and use in source and binary forms: see below.\n */\n\nvar x = 1 // Permission is here\n"
	for name, test := range map[string]struct {
		files        map[string]string
		kinds, texts []string
		err          string
	}{
		"one":       {map[string]string{"LICENSE": mit}, []string{"MIT"}, []string{"LICENSE"}, ""},
		"notice":    {map[string]string{"License.md": mit, "NOTICE.txt": "Of somebody"}, []string{"MIT"}, []string{"License.md", "NOTICE.txt"}, ""},
		"within":    {map[string]string{"COPYING": mit, "a/LICENCE": "Redistribution and use in source and binary forms"}, []string{"BSD-2-Clause", "MIT"}, []string{"a/LICENCE", "COPYING"}, ""},
		"elsewhere": {map[string]string{"LICENSE": mit, "b/LICENSE": "another"}, []string{"MIT"}, []string{"LICENSE"}, ""},
		"twice":     {map[string]string{"LICENSE": mit, "a/LICENSE": mit}, []string{"MIT"}, []string{"a/LICENSE"}, ""},
		"source":    {map[string]string{"LICENSE": mit, "a/a.go": source}, []string{"BSD-2-Clause", "MIT"}, []string{"LICENSE", "a/a.go"}, ""},
		"code":      {map[string]string{"LICENSE": mit, "license.go": "package a"}, []string{"MIT"}, []string{"LICENSE"}, ""},
		"none":      {map[string]string{"README": mit}, nil, nil, "m v1 has no licence"},
		"unknown":   {map[string]string{"LICENSE": "GNU GENERAL PUBLIC LICENSE"}, nil, []string{"LICENSE"}, "m v1 has a licence that licences.go does not know: LICENSE"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := linked{Dir: filepath.Join(dir, "a")}
			test.files["a/x.go"] = "package a\n"
			for file, body := range test.files {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
					t.Fatal(err)
				}
				if at, isGo := strings.CutPrefix(file, "a/"); isGo && filepath.Ext(at) == ".go" {
					p.GoFiles = append(p.GoFiles, at)
				}
			}
			c := &collection{parts: make(map[string]*part), seen: make(map[string]bool)}
			if err := c.add("m", "v1", dir, p, p.Dir); err != nil {
				t.Fatal(err)
			}
			m := c.parts["m"]
			var titles []string
			for _, text := range m.texts {
				titles = append(titles, text.title)
			}
			err := ""
			if wrong := m.check(); wrong != nil {
				err = wrong.Error()
			}
			if !slices.Equal(m.kinds, test.kinds) || !slices.Equal(titles, test.texts) || err != test.err {
				t.Errorf("licences %q in %q, error %q; want %q in %q, %q", m.kinds, titles, err, test.kinds, test.texts, test.err)
			}
		})
	}
}

// TestOurs: a licence among the files that this module embeds belongs to a part that is named.
func TestOurs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(mit), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &collection{parts: make(map[string]*part), seen: make(map[string]bool)}
	err := c.addOurs(linked{Dir: dir, Module: &module{Dir: dir, Main: true}, EmbedFiles: []string{"LICENSE"}})
	if err == nil || !strings.Contains(err.Error(), "say in read.go of what this is the licence") {
		t.Errorf("error %v", err)
	}
}

// TestSameText: a text that two parts have is written once.
func TestSameText(t *testing.T) {
	got := render([]*part{{name: "a", version: "v1", kinds: []string{"MIT"}, texts: []text{{"LICENSE", mit}}}, {name: "b", version: "v2", texts: []text{{"COPYING", mit}}}})
	if strings.Count(got, mit) != 1 || !strings.Contains(got, fmt.Sprintf("b v2\n%s\nCOPYING: the same text as LICENSE of a\n", strings.Repeat("-", 98))) {
		t.Errorf("written: %s", got)
	}
}
