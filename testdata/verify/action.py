"""The proof of a token action: docs/token.md, section 6."""

import bn254
import rangeproof
from bn254 import minus, sum_of
from refused import must
from transcript import Transcript

ISSUE, TRANSFER = 1, 2
KEY = [("value", 1), ("blinding", 1), ("type", 1)]


def digest(p):
    """The digest of the parameters."""
    families = KEY + p.families()
    d = Transcript("zkbench/v1/params")
    d.append("group", bn254.NAME)
    d.append("bits", p.bits)
    p.append_params(d)
    for name, count in families:
        d.append(name, count)
    d.points("generators", *rangeproof.basis(families))
    return d.state


def type_scalar(name):
    t = Transcript("zkbench/v1/type")
    t.append("type", name)
    return t.challenge("scalar")


class Statement:
    """An action without its proof, and what the proof is bound to."""

    def __init__(self, kind, context, action, inputs, outputs):
        self.kind, self.context, self.action = kind, context, action
        self.inputs, self.outputs = inputs, outputs  # encoded commitments


def verify_proof(p, st, proof):
    """Verifies a proof under the parameters of p and returns the transcript's last state."""
    n, m = len(st.inputs), len(st.outputs)
    must((st.kind == ISSUE) == (n == 0) and st.kind in (ISSUE, TRANSFER), "kind and inputs do not match")
    must(m >= 1, "no outputs")
    inputs, outputs = list(map(bn254.decode, st.inputs)), list(map(bn254.decode, st.outputs))

    # The outputs that each range proof covers.
    runs = [range(first, min(m, first + p.most)) for first in range(0, m, p.most)]
    if n == m == 1:
        runs = []
    shapes = [(2, 2) if st.kind == ISSUE else (4, 5)] + [p.shape(len(run)) for run in runs]
    points_end = 32 * sum(points for points, _ in shapes)
    must(len(proof) == points_end + 32 * sum(scalars for _, scalars in shapes), "another length of the proof")
    chunks = [proof[i : i + 32] for i in range(0, len(proof), 32)]
    points = [bn254.decode(c) for c in chunks[: points_end // 32]]
    scalars = [bn254.decode_scalar(c) for c in chunks[points_end // 32 :]]

    t = Transcript("zkbench/v1/token")
    t.append("group", bn254.NAME)
    t.append("params", digest(p))
    t.append("kind", bytes([st.kind]))
    t.append("inputs", n)
    t.append("outputs", m)
    t.append("context", st.context)
    t.append("action", st.action)
    for encoded in st.inputs:
        t.append("input", encoded)
    for encoded in st.outputs:
        t.append("output", encoded)

    C, *A = points[: shapes[0][0]]
    z = scalars[: shapes[0][1]]
    t.points("type commitment", C)
    rho = t.challenge("rho")
    for label, first in zip(["A type", "A inputs", "A sum"], A):
        t.points(label, first)
    c = t.challenge("c")
    t.scalars("responses", *z)

    G, H, G_T = rangeproof.basis(KEY)
    must(sum_of([(z[0], G_T), (z[1], H), (-1, A[0]), (-c, C)]) is None, "the equation of the type does not hold")
    if st.kind == TRANSFER:
        P = sum_of([(rho**i, minus(p_in, C)) for i, p_in in enumerate(inputs)])
        D = sum_of([(1, p_in) for p_in in inputs] + [(-1, out) for out in outputs] + [(m - n, C)])
        must(sum_of([(z[2], G), (z[3], H), (-1, A[1]), (-c, P)]) is None, "the equation of the inputs does not hold")
        must(sum_of([(z[4], H), (-1, A[2]), (-c, D)]) is None, "the equation of the sum does not hold")

    at, forks = list(shapes[0]), []
    for i, (run, shape) in enumerate(zip(runs, shapes[1:])):
        fork = t.fork("range", i)
        V = [minus(outputs[j], C) for j in run]
        p.verify(fork, V, points[at[0] : at[0] + shape[0]], scalars[at[1] : at[1] + shape[1]])
        forks.append(fork)
        at = [at[0] + shape[0], at[1] + shape[1]]
    t.join(*forks)
    return t.state


def commitments(record, side):
    """The commitments of inputs or outputs. Each is opened."""
    encoded = record.all(side, record.bytes)
    G, H, G_T = rangeproof.basis(KEY)
    for i, data in enumerate(encoded):
        typ, value = record.bytes(f"{side}-type[{i}]"), record.number(f"{side}-value[{i}]")
        r = bn254.decode_scalar(record.bytes(f"{side}-blinding[{i}]"))
        opened = sum_of([(type_scalar(typ), G_T), (value, G), (r, H)])
        must(bn254.encode(opened) == data, f"{side} {i} has another opening")
    return encoded


def verify(record):
    p = rangeproof.protocol(record)
    must(record.bytes("params") == digest(p), "another digest of the parameters")
    st = Statement(record.number("kind"), record.bytes("context"), record.bytes("action"),
                   commitments(record, "input"), commitments(record, "output"))
    record.bytes("seed")  # of the prover's nonces
    proof, state = record.bytes("proof"), record.bytes("state")
    record.end()
    must(verify_proof(p, st, proof) == state, "another last state of the transcript")
