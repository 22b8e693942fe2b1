#include "textflag.h"

// func clearUpper()
TEXT ·clearUpper(SB), NOSPLIT, $0-0
	VZEROUPPER
	RET
