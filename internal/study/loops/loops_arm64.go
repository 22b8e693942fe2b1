//go:build !purego

package loops

var assembled = []Loop{
	{scalar, Chain, each, chain},
	{scalar, "add", each, addScalar},
	{scalar, "sub", each, subScalar},
	{scalar, "mul", each, mulScalar},
	{"sve", "add", each, addSVE},
	{"sve", "sub", each, subSVE},
	{"sve", "mul", each, mulSVE},
	{"sve", "mulhi", each, mulhiSVE},
	{"sve2", "add", each, addSVE}, // the same instructions
	{"sve2", "sub", each, subSVE},
	{"sve2", "mul", each, mulSVE2},
	{"sve2", "mulhi", each, mulhiSVE2},
}

func chain(passes int)

func addScalar(passes int)

func subScalar(passes int)

func mulScalar(passes int)

func addSVE(passes int)

func subSVE(passes int)

func mulSVE(passes int)

func mulhiSVE(passes int)

func mulSVE2(passes int)

func mulhiSVE2(passes int)
