package csp

import (
	"github.com/zkbench/zkbench/group"
)

// interpolation holds what depends only on the nodes. Polynomials are given by their values at
// small integers: a, of degree at most n, at 0..n, and b = a(a-1), of degree at most 2n, at 0..2n.
// The values of b at 1..n are zero and are not committed; its n+1 committed values are those at 0,
// n+1, ..., 2n.
type interpolation[S, P any] struct {
	g group.Group[S, P]
	n int

	nodes []S // 0..2n as scalars
	// weightA, weightB are the barycentric weights 1/∏_{j≠i}(i-j) of the nodes
	// 0..n, and those of the committed nodes 0, n+1..2n among 0..2n.
	weightA, weightB []S
	// extend is a matrix of n rows of n+1 entries. Row j-1 maps the values of a at 0..n to its
	// value at n+j.
	extend []S
	pow2   []S // 2^0..2^(n-1)
}

func newInterpolation[S, P any](g group.Group[S, P], n int) *interpolation[S, P] {
	ip := &interpolation[S, P]{
		g: g, n: n,
		nodes:   make([]S, 2*n+1),
		weightB: make([]S, 0, n+1),
		extend:  make([]S, n*(n+1)),
		pow2:    make([]S, n),
	}
	for i := range ip.nodes {
		ip.nodes[i] = g.ScalarFromUint64(uint64(i))
	}
	g.Powers(ip.pow2, &ip.nodes[2])

	fact := make([]S, 2*n+1) // i!
	fact[0] = ip.nodes[1]
	for i := 1; i <= 2*n; i++ {
		g.Mul(&fact[i], &fact[i-1], &ip.nodes[i])
	}
	invFact := append([]S(nil), fact...)
	g.BatchInvert(invFact)

	ip.weightA = barycentricWeights(g, invFact[:n+1])
	all := barycentricWeights(g, invFact)
	ip.weightB = append(append(ip.weightB, all[0]), all[n+1:]...)

	// a(n+j) = Σ_i a(i)·λ_i(n+j), λ_i(x) = weightA_i·∏_k(x-k)/(x-i), and the
	// product over k = 0..n at x = n+j is (n+j)!/(j-1)!.
	inv := append([]S(nil), ip.nodes...)
	g.BatchInvert(inv)
	for j := 1; j <= n; j++ {
		row := ip.extend[(j-1)*(n+1) : j*(n+1)]
		for i := range row {
			row[i] = inv[n+j-i]
		}
		g.MulVec(row, row, ip.weightA)
		g.ScaleVec(row, row, &fact[n+j])
		g.ScaleVec(row, row, &invFact[j-1])
	}
	return ip
}

// barycentricWeights returns the weights of the nodes 0..m, m+1 = len(invFact):
// the product of i-j over j < i is i!, over j > i it is (-1)^(m-i)·(m-i)!.
func barycentricWeights[S, P any](g group.Group[S, P], invFact []S) []S {
	m := len(invFact) - 1
	w := make([]S, m+1)
	for i := range w {
		g.Mul(&w[i], &invFact[i], &invFact[m-i])
		if (m-i)%2 == 1 {
			g.Neg(&w[i], &w[i])
		}
	}
	return w
}

// fill writes the committed values for v to w (2n+2): a(0) = mask, the bits of
// v as a(1..n), then b(0), b(n+1..2n). tmp has n+1 entries.
func (ip *interpolation[S, P]) fill(w []S, v uint64, mask *S, tmp []S) {
	w[0] = *mask
	for i := range ip.n {
		w[i+1] = ip.g.ScalarFromUint64(v >> i & 1) // no look-up by a secret bit
	}
	ip.multiply(w, tmp)
}

// multiply computes the committed values of b = a(a-1) in w[n+1:2n+2] from
// those of a in w[:n+1]. tmp has n+1 entries.
func (ip *interpolation[S, P]) multiply(w, tmp []S) {
	n := ip.n
	a, b, tmp := w[:n+1], w[n+1:2*n+2], tmp[:n+1]
	tmp[0] = a[0]
	for j := range n {
		tmp[j+1] = ip.g.InnerProduct(ip.extend[j*(n+1):(j+1)*(n+1)], a)
	}
	ip.g.MulVec(b, tmp, tmp)
	ip.g.SubVec(b, b, tmp)
}

// lagrange writes the coefficients of a(x) and of b(x) over the committed values to form (2n+2). It
// reports false if x is one of the nodes 0..2n, since such an x would reveal a value of a. tmp has
// 2n+3 entries.
func (ip *interpolation[S, P]) lagrange(form []S, x *S, tmp []S) bool {
	g, n := ip.g, ip.n
	diff, prodA, prodB := tmp[:2*n+1], &tmp[2*n+1], &tmp[2*n+2]
	for i := range diff {
		diff[i] = *x
	}
	g.SubVec(diff, diff, ip.nodes)

	// prodA = ∏(x-k) over 0..n, prodB over 0..2n; form is scratch until then.
	copy(form, diff)
	product(g, form[:n+1])
	product(g, form[n+1:2*n+1])
	*prodA = form[0]
	g.Mul(prodB, prodA, &form[n+1])
	if g.IsZero(prodB) {
		return false
	}

	g.BatchInvert(diff)
	fa, fb := form[:n+1], form[n+1:2*n+2]
	g.MulVec(fa, diff[:n+1], ip.weightA)
	g.ScaleVec(fa, fa, prodA)
	fb[0] = diff[0]
	copy(fb[1:], diff[n+1:])
	g.MulVec(fb, fb, ip.weightB)
	g.ScaleVec(fb, fb, prodB)
	return true
}

// aggregate turns the two evaluation forms in form[:2n+2] into the form
// L = l1 + θ·l2 + θ²·l3 over all 2n+3 entries, where
// l3(w) = c'·Σ 2^(i-1)·a(i) - w_G with c' = link. tmp has n+2 entries.
func (ip *interpolation[S, P]) aggregate(form []S, theta, link *S, tmp []S) {
	g, n := ip.g, ip.n
	fb, tmp, coef := form[n+1:2*n+2], tmp[:n], &tmp[n+1]
	g.ScaleVec(fb, fb, theta)
	last := &form[2*n+2]
	g.Mul(last, theta, theta)
	g.Mul(coef, last, link)
	g.ScaleVec(tmp, ip.pow2, coef)
	g.AddVec(form[1:n+1], form[1:n+1], tmp)
	g.Neg(last, last)
}

// product sets v[0] to the product of v's entries and overwrites the rest.
func product[S, P any](g group.Group[S, P], v []S) {
	for len(v) > 1 {
		half := (len(v) + 1) / 2
		rest := len(v) - half
		g.MulVec(v[:rest], v[:rest], v[half:])
		v = v[:half]
	}
}
