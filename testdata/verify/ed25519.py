"""Ed25519 as docs/owners.md has it: by ZIP 215, with the cofactor."""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1


def decode(data):
    """The point (x, y) of an encoding, y of p or more included, or None."""
    n = int.from_bytes(data, "little")
    sign, y = n >> 255, (n & (1 << 255) - 1) % P
    xx = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if x * x % P != xx:
        x = x * ROOT % P
    if x * x % P != xx:
        return None
    return (x if x % 2 == sign else -x % P, y)


def add(a, b):
    """The sum of two points in extended coordinates."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    p, q = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    r, s = 2 * D * t1 * t2 % P, 2 * z1 * z2 % P
    e, f, g, h = q - p, s - r, s + r, q + p
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiple(k, point):
    x, y = point
    total, power = (0, 1, 1, 0), (x, y, 1, x * y % P)
    while k:
        if k & 1:
            total = add(total, power)
        power = add(power, power)
        k >>= 1
    return total


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def verify(key, message, signature):
    """Whether 8 * (s*B - R - k*A) is the identity."""
    if len(key) != 32 or len(signature) != 64:
        return False
    A, r = decode(key), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if A is None or r is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    minus_a, minus_r = (-A[0] % P, A[1]), (-r[0] % P, r[1])
    total = add(add(multiple(s, BASE), multiple(k, minus_a)), multiple(1, minus_r))
    for _ in range(3):
        total = add(total, total)
    return total[0] == 0 and (total[1] - total[2]) % P == 0


def signed(identity, message, signature):
    """Whether an identity, which must be of type 2, has signed a message."""
    return identity[:1] == b"\2" and verify(identity[1:], message, signature)
