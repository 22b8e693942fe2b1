//go:build !linux

package measure_test

func orphan() int { return 1 }
