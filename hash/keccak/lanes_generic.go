//go:build purego || !amd64

package keccak

func vectorKernels() []string { return nil }

// Each wide operation says how many of the first digests it has set: none here.

func sumColumnsWide[D ~[Digest / 8]uint64, W Word](k Kernel, dst []D, columns [][]W) int { return 0 }

func sumPairsWide[D ~[Digest / 8]uint64](k Kernel, dst, pairs []D) int { return 0 }
