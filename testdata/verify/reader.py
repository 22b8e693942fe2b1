from refused import Refused, must


class Reader:
    """Reads an encoding with big-endian numbers from its beginning to its end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        must(self.at + n <= len(self.data), "an encoding that ends")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def bytes(self, size):
        """bytes<size>: behind a length of so many bytes."""
        return self.take(self.number(size))

    def text(self, size):
        try:
            return self.bytes(size).decode("ascii")
        except UnicodeDecodeError:
            raise Refused("a name that is not ASCII")

    def list(self, size, read):
        """What read returns for each of a number of things."""
        return [read() for _ in range(self.number(size))]

    def end(self):
        must(self.at == len(self.data), "bytes behind the end of an encoding")
