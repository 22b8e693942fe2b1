package main

import (
	"regexp"
	"slices"
	"strings"
)

// known are the licences that may be linked: what the text of each contains, in lower case and with
// single spaces.
var known = []struct{ spdx, says string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"OFL-1.1", "sil open font license version 1.1"},
	{"FTL", "the freetype project license"},
	{"CC-BY-4.0", "creative commons attribution 4.0 international public license"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

// kindsOf returns the SPDX identifiers of the licences in a text.
func kindsOf(body string) (kinds []string) {
	body = strings.ToLower(strings.Join(strings.Fields(body), " "))
	if strings.Contains(body, "redistribution and use in source and binary forms") {
		if strings.Contains(body, "endorse or promote") {
			kinds = append(kinds, "BSD-3-Clause")
		} else {
			kinds = append(kinds, "BSD-2-Clause")
		}
	}
	for _, k := range known {
		if strings.Contains(body, k.says) && !slices.Contains(kinds, k.spdx) {
			kinds = append(kinds, k.spdx)
		}
	}
	return kinds
}

// grants matches comments that are licences themselves, in place of naming a file.
var grants = regexp.MustCompile(`(?i)permission is hereby granted|permission to use, copy|redistributions? (and use in|of|as|in) source|licensed under the apache license, version`)

// comment matches a block of lines that begin with //, or a comment in the form of C.
var comment = regexp.MustCompile(`(?m)(?:^[ \t]*//.*\n)+|(?s:/\*.*?\*/)`)

// mark matches what makes a line a part of a comment.
var mark = regexp.MustCompile(`(?m)^[ \t]*(//|/\*+|\*/|\*) ?`)

// licenceComments returns the comments of a source file that are licences.
func licenceComments(source string) (all []string) {
	for _, found := range comment.FindAllString(source, -1) {
		words := strings.Join(strings.Fields(mark.ReplaceAllString(found, " ")), " ")
		if grants.MatchString(words) {
			all = append(all, strings.TrimSuffix(strings.TrimSpace(mark.ReplaceAllString(found, "")), "*/"))
		}
	}
	return all
}
