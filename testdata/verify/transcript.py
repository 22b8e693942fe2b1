"""The transcript: docs/transcript.md, section 3."""

import hashlib

import bn254


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


def frame(data):
    return u32(len(data)) + data


class Transcript:
    def __init__(self, name=None):
        self.state = bytes(64)
        if name:
            self.append("protocol", name)

    def append(self, label, data):
        """Absorbs bytes, text, or a number."""
        if isinstance(data, str):
            data = data.encode()
        elif isinstance(data, int):
            data = u64(data)
        self.state = hashlib.sha512(self.state + b"\0" + frame(label.encode()) + frame(data)).digest()

    def points(self, label, *points):
        self.append(label, b"".join(map(bn254.encode, points)))

    def scalars(self, label, *scalars):
        self.append(label, bn254.encode_scalars(*scalars))

    def challenge(self, label):
        c = hashlib.sha512(self.state + b"\1" + frame(label.encode())).digest()
        self.append(label, c)
        return int.from_bytes(c, "big") % bn254.R

    def fork(self, label, i):
        child = Transcript()
        child.state = hashlib.sha512(self.state + b"\2" + frame(label.encode()) + u32(i)).digest()
        return child

    def join(self, *children):
        for child in children:
            self.append("join", child.state)
