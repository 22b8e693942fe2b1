"""The group BN254: docs/transcript.md, sections 2 and 4.

Points are pairs (x, y) of integers, and None is the identity.
"""

import functools
import hashlib

from refused import Refused

P = 21888242871839275222246405745257275088696311157297823662689037894645226208583
R = 21888242871839275222246405745257275088548364400416034343698204186575808495617
NAME = "BN254"
LEN = 32  # bytes of a point, and of a scalar


def root(a):
    """A square root modulo p, which is 3 modulo 4, or None."""
    y = pow(a, (P + 1) // 4, P)
    return y if y * y % P == a % P else None


def decode(data):
    """The point of an encoding that is not the identity's."""
    if len(data) != LEN or data[0] >> 6 not in (2, 3):
        raise Refused("not the encoding of a point")
    x = int.from_bytes(data, "big") & ((1 << 254) - 1)
    y = root(x**3 + 3) if x < P else None
    if y is None:
        raise Refused("not the encoding of a point of the curve")
    larger = data[0] >> 6 == 3
    return (x, y if (y > P - y) == larger else P - y)


def encode(point):
    if point is None:
        return bytes([0x40]) + bytes(LEN - 1)
    x, y = point
    return (x | (3 if y > P - y else 2) << 254).to_bytes(LEN, "big")


def decode_scalar(data):
    s = int.from_bytes(data, "big")
    if len(data) != LEN or s >= R:
        raise Refused("not the encoding of a scalar")
    return s


def encode_scalars(*scalars):
    return b"".join(s.to_bytes(LEN, "big") for s in scalars)


def double(a):
    """Twice a point (X, Y, Z) with x = X/Z^2, y = Y/Z^3."""
    x, y, z = a
    yy = y * y % P
    s = 4 * x * yy % P
    m = 3 * x * x % P
    x3 = (m * m - 2 * s) % P
    return (x3, (m * (s - x3) - 8 * yy * yy) % P, 2 * y * z % P)


def add(a, b):
    """The sum of two points with three coordinates."""
    if a[2] == 0:
        return b
    if b[2] == 0:
        return a
    x1, y1, z1 = a
    x2, y2, z2 = b
    zz1, zz2 = z1 * z1 % P, z2 * z2 % P
    u1, u2 = x1 * zz2 % P, x2 * zz1 % P
    s1, s2 = y1 * z2 * zz2 % P, y2 * z1 * zz1 % P
    if u1 == u2:
        return double(a) if s1 == s2 else (1, 1, 0)
    h, r = u2 - u1, s2 - s1
    hh = h * h % P
    hhh, v = h * hh % P, u1 * hh % P
    x3 = (r * r - hhh - 2 * v) % P
    return (x3, (r * (v - x3) - s1 * hhh) % P, h * z1 * z2 % P)


def sum_of(terms):
    """The sum of scalar * point over pairs (scalar, point)."""
    tables = []
    for s, point in terms:
        if point is None or s % R == 0:
            continue
        one = (point[0], point[1], 1)
        table = [(1, 1, 0), one]
        while len(table) < 16:
            table.append(add(table[-1], one))
        tables.append((s % R, table))
    total = (1, 1, 0)
    for shift in range(252, -4, -4):
        for _ in range(4):
            total = double(total)
        for s, table in tables:
            digit = s >> shift & 15
            if digit:
                total = add(total, table[digit])
    if total[2] == 0:
        return None
    inverse = pow(total[2], -1, P)
    return (total[0] * inverse**2 % P, total[1] * inverse**3 % P)


def minus(a, b):
    """The point a - b."""
    return sum_of([(1, a), (-1, b)])


def expand(msg, dst, length):
    """expand_message_xmd with SHA-256 (RFC 9380, section 5.3.1)."""
    dst += bytes([len(dst)])
    b0 = hashlib.sha256(bytes(64) + msg + length.to_bytes(2, "big") + b"\0" + dst).digest()
    block = bytes(32)
    out = b""
    for i in range(1, (length + 31) // 32 + 1):
        mixed = bytes(x ^ y for x, y in zip(b0, block))
        block = hashlib.sha256(mixed + bytes([i]) + dst).digest()
        out += block
    return out[:length]


def curve(x):
    return (x**3 + 3) % P


# Constants of the map to the curve for Z = 1 (section 6.6.1; here A = 0).
C1 = curve(1)
C2 = -pow(2, -1, P) % P
C3 = root(-C1 * 3)
C3 = C3 if C3 % 2 == 0 else P - C3
C4 = -4 * C1 * pow(3, -1, P) % P


def map_to_curve(u):
    """The map of Shallue and van de Woestijne."""
    tv1 = u * u * C1 % P
    tv2 = (1 + tv1) % P
    tv1 = (1 - tv1) % P
    tv3 = pow(tv1 * tv2, P - 2, P)
    tv4 = u * tv1 * tv3 * C3 % P
    x1, x2 = (C2 - tv4) % P, (C2 + tv4) % P
    x3 = (1 + C4 * pow(tv2 * tv2 * tv3, 2, P)) % P
    for x in (x1, x2, x3):
        y = root(curve(x))
        if y is not None:
            return (x, y if y % 2 == u % 2 else P - y)
    raise AssertionError("one of the three is on the curve")


@functools.cache
def generator(family, index):
    """Generator number index of a family."""
    name = family.encode()
    msg = len(name).to_bytes(4, "little") + name + index.to_bytes(4, "little")
    uniform = expand(msg, b"zkbench/v1/generators/" + NAME.encode(), 96)
    u = [int.from_bytes(uniform[i : i + 48], "big") % P for i in (0, 48)]
    return sum_of([(1, map_to_curve(u[0])), (1, map_to_curve(u[1]))])


def family(name, count):
    return [generator(name, i) for i in range(count)]
