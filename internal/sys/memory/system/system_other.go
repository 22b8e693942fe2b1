//go:build !linux && !darwin

package system

// Quota returns 0: there are no control groups.
func Quota() float64 { return 0 }

// Memory returns Unlimited twice: neither the total nor the available memory is known.
func Memory() (total, available uint64) { return Unlimited, Unlimited }
