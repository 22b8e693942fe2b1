//go:build !linux && !darwin

package system

// Quota returns 0, because only Linux has control groups.
func Quota() float64 { return 0 }

// Memory returns Unlimited twice, because neither the total nor the available memory
// is known.
func Memory() (total, available uint64) { return Unlimited, Unlimited }
