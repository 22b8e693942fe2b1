package csp

import "github.com/zkbench/zkbench/group"

// One round of folding, for a vector z of length l with h = ceil(l/2), its
// generators g and its linear form L, at challenge ξ:
//
//	z' = z_lo + ξ·z_hi,   g' = ξ·g_lo + g_hi,   L' = ξ·L_lo + L_hi,
//
// lo the first h entries, hi the remaining floor(l/2), an absent last hi entry
// counting as zero (docs/rangeproofs.md, "Folding, and odd lengths").

// foldedLengths returns size, ceil(size/2), ... down to the first length of at
// most stop >= 1.
func foldedLengths(size, stop int) []int {
	lens := []int{size}
	for size > stop {
		size = (size + 1) / 2
		lens = append(lens, size)
	}
	return lens
}

// expand rewrites coefficients over the generators of round k = len(xi), in
// v[:lens[k]], as coefficients over the original generators, in v[:lens[0]]:
// s·g'_i = (s·ξ)·g_i + s·g_(i+h). It is the transpose of folding the
// generators, so neither side ever folds a point.
func expand[S, P any](g group.Group[S, P], v []S, lens []int, xi []S) {
	for j := len(xi) - 1; j >= 0; j-- {
		l, h := lens[j], lens[j+1]
		copy(v[h:l], v[:l-h])
		g.ScaleVec(v[:h], v[:h], &xi[j])
	}
}

// foldVector folds z[:l] into z[:h].
func foldVector[S, P any](g group.Group[S, P], z []S, l, h int, xi *S) {
	g.Fold(z[:h], z[:h], z[h:l], xi)
}

// foldForm folds L[:l] into L[:h].
func foldForm[S, P any](g group.Group[S, P], form []S, l, h int, xi *S) {
	g.ScaleVec(form[:h], form[:h], xi)
	g.AddVec(form[:l-h], form[:l-h], form[h:l])
}
