"""The range proofs bulletproof and bulletproof-agg: docs/rangeproofs.md."""

from bn254 import R, family, sum_of
from refused import must


class Bulletproof:
    def __init__(self, name, bits, most, stop):
        must((name == "bulletproof") == (most == 1), "another number of commitments than the name says")
        self.name, self.bits, self.most, self.stop = name, bits, most, stop

    def dims(self, m):
        """k, N and the length of the final vectors."""
        k = 0
        while -(-self.bits * m // 2**k) > self.stop:
            k += 1
        last = -(-self.bits * m // 2**k)
        return k, last << k, last

    def shape(self, m):
        k, _, last = self.dims(m)
        return 4 + 2 * k, 3 + 2 * last

    def families(self):
        n = self.dims(self.most)[1]
        return [("bulletproof/G", n), ("bulletproof/H", n), ("bulletproof/U", 1)]

    def append_params(self, t):
        t.append("range-proof", self.name)
        t.append("bits", self.bits)
        t.append("max-commitments", self.most)
        t.append("stop", self.stop)

    def verify(self, t, V, points, scalars):
        """Runs the transcript to its end and checks both equations."""
        n, m = self.bits, len(V)
        k, N, last = self.dims(m)
        A, S, T1, T2, *rounds = points
        L, Rs = rounds[0::2], rounds[1::2]
        taux, mu, t_hat, *final = scalars
        a, b = final[:last], final[last:]

        t.append("m", m)
        t.points("V", *V)
        t.points("A", A)
        t.points("S", S)
        y, z = t.challenge("y"), t.challenge("z")
        t.points("T1", T1)
        t.points("T2", T2)
        x = t.challenge("x")
        t.scalars("taux", taux)
        t.scalars("mu", mu)
        t.scalars("tHat", t_hat)
        u = t.challenge("U")
        xs = []
        for j in range(k):
            t.points("L", L[j])
            t.points("R", Rs[j])
            xs.append(t.challenge("x_j"))
        t.scalars("a", *a)
        t.scalars("b", *b)
        must(all([y, z, x, u] + xs), "a challenge is zero")

        g, h = family("value", 1)[0], family("blinding", 1)[0]
        w = [pow(z, 2 + i // n, R) * 2 ** (i % n) % R if i < n * m else 0 for i in range(N)]
        y_powers = [pow(y, i, R) for i in range(N)]
        delta = ((z - z * z) * sum(y_powers) - z * sum(w)) % R
        one = [(t_hat - delta, g), (taux, h), (-x, T1), (-x * x, T2)]
        one += [(-pow(z, 2 + j, R), V[j]) for j in range(m)]
        must(sum_of(one) is None, "the range proof's equation (1) does not hold")

        # The product of x_j over the rounds in which position i lies in the upper half: the first
        # round halves N.
        inverses = [pow(c, -1, R) for c in xs]
        s_g, s_h = [1] * N, [1] * N
        for i in range(N):
            for j in range(k):
                if i // (N >> j + 1) % 2:
                    s_g[i] = s_g[i] * xs[j] % R
                    s_h[i] = s_h[i] * inverses[j] % R
        inner = sum(p * q for p, q in zip(a, b)) % R
        two = [(1, A), (x, S), (-mu, h), (u * (t_hat - inner), family("bulletproof/U", 1)[0])]
        for j in range(k):
            two += [(xs[j], L[j]), (inverses[j], Rs[j])]
        y_inverse = pow(y, -1, R)
        G, H = family("bulletproof/G", N), family("bulletproof/H", N)
        for i in range(N):
            two.append((-(z + s_g[i] * a[i % last]), G[i]))
            two.append((z + pow(y_inverse, i, R) * (w[i] - s_h[i] * b[i % last]), H[i]))
        must(sum_of(two) is None, "the range proof's equation (2) does not hold")
