package wire_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/token/internal/wire"
)

var errOther = errors.New("another error")

// pair decodes two bytes, of which the second must not be 0, 9 or 8.
func pair(data []byte) (string, int, error) {
	switch {
	case len(data) < 2:
		return "", 0, &zkbench.DecodeError{Path: "pair", Reason: "truncated"}
	case data[1] == '0':
		return "?", 2, &zkbench.DecodeError{Path: "second", Offset: 1, Reason: "zero"}
	case data[1] == '9':
		return "?", 2, errOther
	case data[1] == '8':
		return "?", 1000, nil // more than there is
	}
	return string(data[:2]), 2, nil
}

// two is pair for Decoded.
func two(data []byte) (string, error) {
	s, _, err := pair(data)
	return s, err
}

// TestParts: parts are read in turn, and their errors get offset and path in the whole. After an error nothing is read.
func TestParts(t *testing.T) {
	for name, read := range map[string]func(f *wire.Fields) string{
		"Part":    func(f *wire.Fields) string { return wire.Part(f, pair) },
		"Decoded": func(f *wire.Fields) string { return wire.Decoded(f, "two", 2, two) },
	} {
		f := wire.NewFields([]byte("xaabb"), "data", 5)
		f.Bytes("x", 1)
		golden.Equal(t, name+": parts", []string{"aa", "bb"}, []string{read(f), read(f)})
		golden.Equal[error](t, name+": error", nil, f.End("data"))

		for list, path := range map[string]string{"": "second", "list": "list[3].second"} {
			f = wire.NewFields([]byte("xaaa0bb"), "data", 7)
			f.Bytes("x", 1)
			if list != "" {
				f.Item(list, 3)
			}
			read(f)
			read(f)
			golden.Equal[error](t, name+": error of a part", &zkbench.DecodeError{Path: path, Offset: 4, Reason: "zero"}, f.Err())
			golden.Equal(t, name+": after an error", "", read(f))
			golden.Equal[error](t, name+": the first error", &zkbench.DecodeError{Path: path, Offset: 4, Reason: "zero"}, f.End("data"))
		}
		f = wire.NewFields([]byte("a9bb"), "data", 4)
		read(f)
		if f.OK() || !errors.Is(f.Err(), errOther) {
			t.Errorf("%s: %v", name, f.Err())
		}
	}
	f := wire.NewFields([]byte("a0bb"), "data", 4)
	golden.Equal(t, "a part with an error", "", wire.Part(f, pair))
	f = wire.NewFields([]byte("a8"), "data", 2)
	golden.Equal(t, "a part of more than there is", "", wire.Part(f, pair))
	f = wire.NewFields([]byte("a"), "data", 1)
	wire.Decoded(f, "two", 2, two)
	golden.Equal[error](t, "too few bytes", &zkbench.DecodeError{Path: "two", Reason: "truncated"}, f.Err())
}
