"""What a signer of a request or an update signs: docs/requests.md, "Encodings"."""

from transcript import Transcript


def to_sign(message, role, of, signer):
    t = Transcript("zkbench/v1/request/signature")
    t.append("message", message)
    t.append("role", role)
    t.append("of", of)
    t.append("signer", signer)
    return t.state
