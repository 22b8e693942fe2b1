package zkvm

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// official returns the programs of riscv-tests for a set of instructions, by name.
func official(t testing.TB, prefix string) map[string][]byte {
	t.Helper()
	file := must.Get(os.Open("../riscv/testdata/riscv-tests/programs.tar.gz"))(t)
	defer file.Close()
	archive, all := tar.NewReader(must.Get(gzip.NewReader(file))(t)), make(map[string][]byte)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must.Do(t, err)
		if strings.HasPrefix(header.Name, prefix) {
			all[header.Name] = must.Get(io.ReadAll(archive))(t)
		}
	}
}

func TestOfficial(t *testing.T) {
	m := newMachine(rv64)
	programs := official(t, "rv64im/rv64u")
	maps.Copy(programs, official(t, "rv64gc/rv64uc"))
	for name, raw := range programs {
		if testing.Short() && !strings.HasSuffix(name, "-add") && !strings.HasSuffix(name, "-ld_st") && !strings.HasSuffix(name, "-rvc") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			raw[0x30] = 1 // of the flags of the ELF header, those for floating point: no program uses it
			p := must.Get(Load(raw))(t)
			x, _, err := p.run(t.Context(), m, riscv.Options{})
			switch {
			case strings.HasSuffix(name, "-ma_data"): // misaligned accesses are a fault
				if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.Misaligned {
					t.Fatalf("%v, want a %v", err, riscv.Misaligned)
				}
				return
			case strings.HasSuffix(name, "-fence_i"): // code in data is none
				if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.WildJump {
					t.Fatalf("%v, want a %v", err, riscv.WildJump)
				}
				return
			}
			must.Do(t, err)
			must.Do(t, check(t, x))
		})
	}
}
