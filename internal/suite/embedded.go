package suite

import (
	"bytes"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed suites/*.yaml
var embedded embed.FS

// Embedded returns the suite of that name that the program has in itself, and whether
// there is one.
func Embedded(name string) (*File, bool, error) {
	file := path.Join("suites", name+".yaml")
	raw, err := fs.ReadFile(embedded, file)
	if err != nil {
		return nil, false, nil // not one of ours
	}
	f, err := Read(file, bytes.NewReader(raw))
	return f, true, err
}

// Names are those of the embedded suites, in the order of the alphabet.
func Names() (names []string) {
	files, err := fs.Glob(embedded, "suites/*.yaml")
	if err != nil {
		panic(err) // of the pattern
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	slices.Sort(names)
	return names
}
