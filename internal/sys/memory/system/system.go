// Package system reads what memory and processors the operating system leaves to this
// process.
package system

import "math"

// Unlimited stands for a limit that there is not, or that is not known.
const Unlimited = math.MaxUint64
