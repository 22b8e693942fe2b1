package env

import (
	gnark "github.com/consensys/gnark-crypto/utils/cpu"
	"golang.org/x/sys/cpu"
)

// arithmeticPath returns the name of the field arithmetic that gnark-crypto chooses: avx512
// (vectors and single elements), adx or neon (single elements only), or portable.
func arithmeticPath() string {
	switch {
	case gnark.SupportAVX512:
		return "avx512"
	case gnark.SupportADX:
		return "adx"
	case gnark.SupportNEON:
		return "neon"
	}
	return "portable"
}

// vectorExtensions returns the processor's vector extensions that proof systems use, from narrow
// to wide.
func vectorExtensions() []string {
	var all []string
	for _, x := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vbmi2", cpu.X86.HasAVX512VBMI2},
		{"avx512ifma", cpu.X86.HasAVX512IFMA},
		{"neon", cpu.ARM64.HasASIMD},
		{"sve", cpu.ARM64.HasSVE},
		{"sve2", cpu.ARM64.HasSVE2},
	} {
		if x.has {
			all = append(all, x.name)
		}
	}
	return all
}
