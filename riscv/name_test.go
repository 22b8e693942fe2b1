package riscv_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// TestReadableNames: functions of C++ and of Rust have the names of their sources in counts, profiles and faults, and a
// name that no compiler made stays as it is.
func TestReadableNames(t *testing.T) {
	for mangled, want := range map[string]string{
		"_ZNK1X1fEm":                          "X::f(unsigned long) const",
		"_ZN3VecImE4pushEm":                   "Vec<unsigned long>::push(unsigned long)",
		"_ZdlPv":                              "operator delete(void*)",
		"_ZN5guest5count17h0123456789abcdefE": "guest::count", // of Rust before its version 0 of names
		"_RNvCs15kBYyAo9fc_7mycrate7example":  "mycrate::example",
		"main.(*node).sum":                    "main.(*node).sum", // of Go
		"_Zebra":                              "_Zebra",
		"_Rust":                               "_Rust",
		"_ZN1a1b\x1bEv":                       "a::b()", // without what moves a cursor
		strings.Repeat("P", 1<<20):            strings.Repeat("P", 1<<20),
		"_Z1f" + strings.Repeat("P", 1<<20) + "i": "_Z1f" + strings.Repeat("P", 1<<20) + "i", // pointers to pointers
		"_Z1fI" + strings.Repeat("PFi", 5000):     "_Z1fI" + strings.Repeat("PFi", 5000),
	} {
		raw := withSymbols(code([]uint32{rv.Nop, 0}, nil), label{mangled, 2, codeAt})
		var profiled bytes.Buffer
		r, err := riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{Profile: &profiled})
		fault, ok := errors.AsType[*riscv.Fault](err)
		if !ok {
			t.Fatalf("%.80q: %v, want a fault", mangled, err)
		}
		functions := must.Get(profile.Parse(&profiled))(t).Function
		if len(r.Functions) != 1 || len(functions) != 1 {
			t.Fatalf("%.80q: %d functions, %d in the profile, want 1 of each", mangled, len(r.Functions), len(functions))
		}
		for where, got := range map[string]string{"fault": fault.Function, "counts": r.Functions[0].Name, "profile": functions[0].Name} {
			if got != want {
				t.Errorf("%s of %.80q: %.80q, want %.80q", where, mangled, got, want)
			}
		}
		golden.Equal(t, "symbol", strings.ReplaceAll(mangled, "\x1b", ""), functions[0].SystemName)
	}
}

// TestManyNames: short symbols that stand for long names do not take more memory together than a guest may.
func TestManyNames(t *testing.T) {
	const functions = 4000
	name := "_Z1f1AIS_IS_IS_IS_IS_IS_IS_IS_IS_IS_IiiES0_ES1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_E" // twice as much with each S
	var labels []label
	for i := range functions {
		labels = append(labels, label{name, 2, codeAt + uint64(4*i)})
	}
	raw := withSymbols(code(slices.Concat(slices.Repeat([]uint32{rv.Nop}, functions), system(exitGroup)), nil), labels...)
	r := must.Get(riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{}))(t)
	sum, names := 0, []string(nil)
	for _, f := range r.Functions {
		sum, names = sum+len(f.Name), append(names, f.Name)
	}
	golden.Equal(t, "functions", functions, len(names))
	if sum > 64<<20 || !slices.Contains(names, name) || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "f(A<A<A<") }) {
		t.Errorf("names of %d bytes, want some that are demangled, some that are not, and 64 MiB at most", sum)
	}
}

// FuzzReadableNames: no name of a symbol ends the program that shows it, or is shown as more than 16 KiB or
// with a control character.
func FuzzReadableNames(f *testing.F) {
	for _, name := range []string{"_ZNK1X1fEm", "_Z1fI1ES0_IS1_ES2_E", "_RNvCs15kBYyAo9fc_7mycrate7example", "_ZN5guest5count17h0123456789abcdefE"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsRune(name, 0) || name == "" {
			t.Skip()
		}
		p, err := riscv.Load(withSymbols(code([]uint32{0}, nil), label{name, 2, codeAt}), nil)
		if err != nil {
			t.Skip()
		}
		_, err = riscv.Run(t.Context(), p, riscv.Options{})
		fault, ok := errors.AsType[*riscv.Fault](err)
		if !ok {
			t.Fatalf("%v, want a fault", err)
		}
		if i := strings.IndexFunc(fault.Function, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
			t.Errorf("control character at %d of %q", i, fault.Function)
		}
		if len(fault.Function) > max(len(name), 1<<14) {
			t.Errorf("a name of %d bytes for one of %d", len(fault.Function), len(name))
		}
	})
}
