// Package system reports how much memory and how many processors the operating system allows this process.
package system

import "math"

// Unlimited means that there is no limit, or that it is not known.
const Unlimited = math.MaxUint64
