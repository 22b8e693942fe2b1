//go:build !purego

package goldilocks

func vectorKernels() []string { return nil }
