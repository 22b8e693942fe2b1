package c_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// TestLibrary: the library compiles without a warning, at any level.
func TestLibrary(t *testing.T) {
	testsize.Full(t)
	for _, source := range must.Get(filepath.Glob("lib/*.c"))(t) {
		for _, isa := range []string{"rv64im", "rv32im"} {
			if _, said, err := compiled(t, isa, source, "-fsyntax-only", "-O2", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror"); err != nil {
				t.Errorf("%s for %s: %v: %s", source, isa, err, said)
			}
		}
	}
}

// TestOrder: what constructs runs before main, by priority, and what was registered and what destroys after it, in reverse
// order; abort does neither.
func TestOrder(t *testing.T) {
	each(t, "testdata/order.c", func(t *testing.T, p *riscv.Program) {
		golden.Equal(t, "order", "abcdefghij", string(run(t, p, riscv.Options{}).Output))
		_, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte("x")})
		exit, ok := errors.AsType[*riscv.ExitError](err)
		if !ok {
			t.Fatalf("%v, want an exit code", err)
		}
		golden.Equal(t, "order before abort", "134 abcd", fmt.Sprint(exit.Code, " ", string(exit.Output)))
	})
}

// TestObjects: objects of C++ live as the language has it, and what the language would throw ends the guest and says why.
func TestObjects(t *testing.T) {
	const lived = "+global +other +local local ~square ~shape +x +y -x -y +placed -placed "
	reversed := strings.Replace(lived, "-x -y ", "-y -x ", 1) // elements of an array, in reverse
	const died = "-local -other -global "
	each(t, "testdata/objects.cpp", func(t *testing.T, p *riscv.Program) {
		golden.Equal(t, "output", reversed+died, string(run(t, p, riscv.Options{}).Output))
		for how, want := range map[string]struct {
			code      int
			out, says string
		}{
			"a": {134, "", "a pure virtual function was called\n"},
			"b": {134, "", "the constructor of a static local object needs the object\n"},
			"c": {134, "", "operator new: no memory is left\n"},
			"d": {134, "", "std::out_of_range\n"},
			"e": {7, died, ""},
		} {
			var said bytes.Buffer
			_, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte(how), Stderr: &said, Precompiles: precompile.All()})
			exit, ok := errors.AsType[*riscv.ExitError](err)
			if !ok {
				t.Errorf("%q: %v, want exit code %d", how, err, want.code)
				continue
			}
			golden.Equal(t, fmt.Sprintf("end of %q", how), fmt.Sprint(want.code, " ", reversed+want.out, want.says), fmt.Sprint(exit.Code, " ", string(exit.Output), said.String()))
		}
	}, "-std=c++20")
}

// TestVirtual: a guest that brings its own vector, operator delete and __cxa_pure_virtual has the results of its source:
// the steps from 27 to 1, each by a virtual call, then its global and its static local object.
func TestVirtual(t *testing.T) {
	var want []byte
	for x := uint64(27); x != 1; want = binary.LittleEndian.AppendUint64(want, x) {
		if x%2 == 1 {
			x = 3*x + 1
		} else {
			x /= 2
		}
	}
	for flags, objects := range map[string][]uint64{"": nil, "-DCTOR": {42}, "-DSTATICLOCAL": {5}, "-DCTOR -DSTATICLOCAL": {42, 5}} {
		output := bytes.Clone(want)
		for _, v := range objects {
			output = binary.LittleEndian.AppendUint64(output, v)
		}
		each(t, "testdata/virtual.cpp", func(t *testing.T, p *riscv.Program) {
			r := run(t, p, riscv.Options{})
			golden.Equal(t, "output with "+flags, fmt.Sprintf("%x", output), fmt.Sprintf("%x", r.Output))
			names := make(map[string]bool)
			for _, f := range r.Functions {
				names[f.Name] = true
			}
			size := map[int]string{64: "unsigned long", 32: "unsigned long long"}[p.ISA.XLEN]
			golden.Equal(t, "a function X::f("+size+") const", true, names["X::f("+size+") const"])
		}, strings.Fields(flags)...)
	}
}

// TestLacks: what a guest asks for and does not get is named, in one line where that is all that is wrong.
func TestLacks(t *testing.T) {
	const c, cxx = "guests have assert.h, limits.h, stdlib.h and string.h, and zkvm_io.h for input and output",
		"guests have assert.h, limits.h, stdlib.h and string.h, headers of C++ that need no library, such as <array> and <vector>, and zkvm_io.h for input and output"
	for name, test := range map[string]struct{ file, text, says string }{
		"stdio":              {"g.c", "#include <stdio.h>\nint main(void) { return puts(\"x\"); }", "cc.sh: g.c:1: there is no <stdio.h>: " + c + "\n"},
		"math":               {"g.c", "\n#include <math.h>\nint main(void) { return 0; }", "cc.sh: g.c:2: there is no <math.h>: " + c + "\n"},
		"printf":             {"g.c", "int printf(const char *, ...); int main(void) { return printf(\"x\"); }", "cc.sh: printf is in none of the files: " + c + "\n"},
		"undeclared printf":  {"g.c", "int main(void) { return printf(\"x\"); }", "cc.sh: printf is in none of the files: " + c + "\n"},
		"float":              {"g.c", "double x, y; int main(void) { return (int)(x * y); }", "cc.sh: g.c: main: floating point (__muldf3): guests compute with integers\ncc.sh: g.c: main: floating point (__fixdfsi): guests compute with integers\n"},
		"iostream":           {"g.cpp", "#include <iostream>\nint main() { std::cout << 1; return 0; }", "cc.sh: g.cpp:1: there is no <iostream>: " + cxx + "\n"},
		"string":             {"g.cpp", "#include <string>\nint main() { return 0; }", "cc.sh: g.cpp:1: there is no <string>: " + cxx + "\n"},
		"cstring":            {"g.cpp", "#include <cstring>\nint main() { return 0; }", "cc.sh: g.cpp:1: there is no <cstring>: " + cxx + "\n"},
		"code of a library":  {"g.cpp", "namespace std { void terminate(); } int main() { std::terminate(); return 0; }", "cc.sh: std::terminate() is in none of the files: " + cxx + "\n"},
		"exceptions":         {"g.cpp", "int main() { throw 1; return 0; }", "error: exception handling disabled"},
		"dynamic_cast":       {"g.cpp", "struct A { virtual ~A() {} }; struct B : A {}; int main() { B b; A *volatile a = &b; return dynamic_cast<B *>(a) != nullptr; }", "error: 'dynamic_cast' not permitted with '-fno-rtti'"},
		"typeid":             {"g.cpp", "#include <typeinfo>\nint main() { int x; return typeid(x) == typeid(int); }", "error: cannot use 'typeid' with '-fno-rtti'"},
		"no return of main":  {"g.cpp", "int main() {}", "error: no return statement in function returning non-void"},
		"no return in C":     {"g.c", "int main(void) {}", "error: control reaches end of non-void function"},
		"a file of one's":    {"g.c", "#include \"own.h\"\nint main(void) { return 0; }", "g.c:1:10: fatal error: own.h: No such file or directory"},
		"syntax beside it":   {"g.c", "int unknown(void); int main(void) { return unknown() }", "error: expected ';'"},
		"threads":            {"g.c", "_Thread_local int x = 1; int main(void) { return x; }", "guests have no storage of threads"},
		"threads, zero":      {"g.c", "static _Thread_local volatile int x; int main(void) { return x++; }", "guests have no storage of threads"},
		"older constructors": {"g.c", "static void f(void) {} __attribute__((used, section(\".ctors\"))) static void (*const list)(void) = f; int main(void) { return 0; }", "none in .ctors"},
	} {
		t.Run(name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), test.file)
			must.Do(t, os.WriteFile(source, []byte(test.text), 0o600))
			_, said, err := compiled(t, "rv64im", source, "-O2")
			if err == nil {
				t.Fatal("it is compiled and linked")
			}
			said = strings.ReplaceAll(said, filepath.Dir(source)+"/", "")
			if strings.HasSuffix(test.says, "\n") {
				golden.Equal(t, "errors", test.says, said)
			} else {
				golden.Contains(t, said, test.says)
			}
		})
	}
	for _, test := range []struct{ isa, compiler, says string }{
		{"rv64gc", "riscv64-linux-gnu-gcc", "cc.sh: rv64gc; accepted: rv64im, rv32im\n"},
		{"rv64im", "riscv64-linux-gnu-g++", "cc.sh: CC is riscv64-linux-gnu-g++; accepted: a compiler of C, which compiles files of C++ as such\n"},
		{"rv64im", "no-such-gcc", "cc.sh: there is no no-such-gcc: make deps installs riscv64-linux-gnu-gcc, and CC names another compiler\n"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "cc.sh", test.isa, "testdata/echo.c")
		cmd.Env = append(os.Environ(), "CC="+test.compiler)
		out, err := cmd.CombinedOutput()
		golden.Equal(t, test.isa+" by "+test.compiler, test.says, string(out))
		golden.Equal(t, "it fails", true, err != nil)
	}
}
