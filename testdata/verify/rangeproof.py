"""A range proof by itself: docs/transcript.md, section 5."""

import bn254
from bulletproof import Bulletproof
from csp import CSP
from refused import must
from transcript import Transcript


def protocol(record):
    """The protocol with the parameters of a record."""
    must(record.word("group") == bn254.NAME, "another group than BN254")
    name, bits, stop = record.word("range-proof"), record.number("bits"), record.number("stop")
    must(1 <= bits <= 64 and stop >= 1, "parameters out of range")
    if name == "csp":
        return CSP(bits, stop)
    must(name in ("bulletproof", "bulletproof-agg"), "another range proof")
    most = record.number("max-commitments")
    must(1 <= most <= 256, "max-commitments out of range")
    return Bulletproof(name, bits, most, stop)


def basis(families):
    return [g for name, count in families for g in bn254.family(name, count)]


def names(p, m):
    """The names of a proof's points, and of its scalars, in their order."""
    points, scalars = p.shape(m)
    if p.name == "csp":
        head, pair, last = ["P", "M"], ["A", "B"], scalars - 3
        tail = ["ax", "mu", "phi"] + [f"z[{i}]" for i in range(last)]
    else:
        head, pair, last = ["A", "S", "T1", "T2"], ["L", "R"], (scalars - 3) // 2
        tail = ["taux", "mu", "tHat"] + [f"{v}[{i}]" for v in "ab" for i in range(last)]
    rounds = (points - len(head)) // 2
    return head + [f"{v}[{k}]" for k in range(rounds) for v in pair], tail


def verify(record):
    p = protocol(record)
    context = record.bytes("context")
    if p.name == "csp":
        encoded = [record.bytes("V")]
        values, blindings = [record.number("value")], [record.bytes("blinding")]
    else:
        encoded = record.all("V", record.bytes)
        values, blindings = record.all("value", record.number), record.all("blinding", record.bytes)
    V = [bn254.decode(v) for v in encoded]
    must(1 <= len(V) <= p.most, "another number of commitments than is accepted")
    record.bytes("seed")  # of the prover's nonces
    points, scalars = names(p, len(V))
    points = [bn254.decode(record.bytes(name)) for name in points]
    scalars = [bn254.decode_scalar(record.bytes(name)) for name in scalars]
    record.end()

    key = [("value", 1), ("blinding", 1)]
    d = Transcript("zkbench/v1/rangeproof/params")
    d.append("group", bn254.NAME)
    p.append_params(d)
    d.points("generators", *basis(key + p.families()))
    t = Transcript("zkbench/v1/rangeproof")
    t.append("params", d.state)
    t.append("commitments", len(V))
    t.append("context", context)
    p.verify(t, V, points, scalars)

    must(len(values) == len(blindings) == len(V), "not one value and blinding for each commitment")
    for v, value, blinding in zip(V, values, blindings):
        opened = bn254.sum_of(zip([value, bn254.decode_scalar(blinding)], basis(key)))
        must(opened == v and value < 2**p.bits, "the value and blinding do not open the commitment")
