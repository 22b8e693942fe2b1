//go:build !purego

package loops

var assembled = []Loop{
	{scalar, Chain, each, chain},
	{scalar, "add", each, addScalar},
	{scalar, "sub", each, subScalar},
	{scalar, "mul", each, mulScalar},
	{"avx2", "add", each, addAVX2},
	{"avx2", "sub", each, subAVX2},
	{"avx2", "mul", each, mulAVX2},
	{"avx512", "add", each, addAVX512},
	{"avx512", "sub", each, subAVX512},
	{"avx512", "mul", each, mulAVX512},
	{"avx512", "mullo", each, mulloAVX512},
}

func chain(passes int)

func addScalar(passes int)

func subScalar(passes int)

func mulScalar(passes int)

func addAVX2(passes int)

func subAVX2(passes int)

func mulAVX2(passes int)

func addAVX512(passes int)

func subAVX512(passes int)

func mulAVX512(passes int)

func mulloAVX512(passes int)
