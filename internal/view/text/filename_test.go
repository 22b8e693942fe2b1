package text_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/view/text"
)

func TestFileName(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"curve=BN254/bits=32", "curve=BN254_bits=32"},
		{`a<b>c:d"e|f?g*h\i`, "a_b_c_d_e_f_g_h_i"},
		{"tab\tend. .", "tab_end"},
		{"", "_e3b0c442"},
		{"..", "_5ec1f7e7"},
		{"nul", "nul_99e62427"},
		{"COM1.x", "COM1.x_72d1481b"},
	} {
		golden.Equal(t, test.in, test.want, text.FileName(test.in))
	}
}

func TestFileNameOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		name := text.FileName(in + strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "longer")))
		if name == "" || len(name) > 255 || name == "." || name == ".." || strings.ContainsAny(name, "<>:\"/\\|?*\x00\n") ||
			strings.TrimRight(name, ". ") != name {
			t.Fatalf("%q is no name for a file", name)
		}
	})
}
