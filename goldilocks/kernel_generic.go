//go:build purego || (!amd64 && !arm64)

package goldilocks

func vectorKernels() []string { return nil }
