"""The range proof csp: docs/rangeproofs.md."""

from bn254 import R, family, sum_of
from refused import must


def lagrange(nodes, i, x):
    """The Lagrange polynomial that is 1 at node i and 0 at the others, at x."""
    above, below = 1, 1
    for k in nodes:
        if k != i:
            above, below = above * (x - k) % R, below * (i - k) % R
    return above * pow(below, -1, R) % R


class CSP:
    name, most = "csp", 1

    def __init__(self, bits, stop):
        self.bits, self.stop = bits, stop
        self.lengths = [2 * bits + 3]
        while self.lengths[-1] > stop:
            self.lengths.append((self.lengths[-1] + 1) // 2)
        self.rounds = len(self.lengths) - 1

    def shape(self, _):
        return 2 + 2 * self.rounds, 3 + self.lengths[-1]

    def families(self):
        return [("csp/G", 2 * self.bits + 2), ("csp/K", 1)]

    def append_params(self, t):
        t.append("range proof", self.name)
        t.append("bits", self.bits)
        t.append("stop", self.stop)

    def form(self, x, theta, link):
        """The coefficients of L."""
        n = self.bits
        a_nodes, b_nodes = range(n + 1), range(2 * n + 1)
        l1 = [lagrange(a_nodes, i, x) for i in a_nodes] + [0] * (n + 2)
        l2 = [0] * (n + 1) + [lagrange(b_nodes, j, x) for j in [0, *range(n + 1, 2 * n + 1)]] + [0]
        l3 = [0] + [link * 2 ** (i - 1) for i in range(1, n + 1)] + [0] * (n + 1) + [-1]
        return [(p + theta * q + theta * theta * s) % R for p, q, s in zip(l1, l2, l3)]

    def verify(self, t, V, points, scalars):
        """Runs the transcript to its end and checks the equation."""
        P, M, *rounds = points
        A, B = rounds[0::2], rounds[1::2]
        ax, mu, phi, *z = scalars

        t.points("csp/V", *V)
        t.points("csp/P", P)
        t.points("csp/M", M)
        link, x = t.challenge("csp/link"), t.challenge("csp/x")
        t.scalars("csp/ax", ax)
        theta = t.challenge("csp/theta")
        t.scalars("csp/mu", mu)
        c = t.challenge("csp/c")
        t.scalars("csp/phi", phi)
        kappa = t.challenge("csp/kappa")
        xi = []
        for k in range(self.rounds):
            t.points("csp/A", A[k])
            t.points("csp/B", B[k])
            xi.append(t.challenge("csp/xi"))
        t.scalars("csp/z", *z)
        must(x > 2 * self.bits, "the challenge x is a node")

        # e is z expanded: a step back over a round doubles the vector.
        e = z
        for k in reversed(range(self.rounds)):
            e = ([xi[k] * v % R for v in e] + e)[: self.lengths[k]]
        y = ax + theta * ax * (ax - 1)
        after = [1]  # X_k from the last round to the first, then X
        for c_k in reversed(xi):
            after.append(after[-1] * c_k % R)
        X = after.pop()
        after.reverse()

        value = sum(p * q for p, q in zip(self.form(x, theta, link), e))
        G, H = family("value", 1)[0], family("blinding", 1)[0]
        terms = [(X, M), (X * c, P), (X * c * link, V[0]), (-X * phi, H)]
        terms.append((kappa * (X * (c * y + mu) - value), family("csp/K", 1)[0]))
        for k in range(self.rounds):
            terms += [(after[k], A[k]), (after[k] * xi[k] ** 2, B[k])]
        terms += [(-v, g) for v, g in zip(e, family("csp/G", 2 * self.bits + 2) + [G])]
        must(sum_of(terms) is None, "the range proof's equation does not hold")
