"""Pseudonyms, their enrolment and audit: docs/owners.md, "Pseudonyms"."""

import bn254
import ed25519
import rangeproof
from bn254 import decode_scalar, sum_of
from refused import must
from transcript import Transcript

PSEUDONYM = 3  # the type of an identity


def generators():
    return rangeproof.basis([("pseudonym/key", 1), ("pseudonym/blinding", 1)])


def digest():
    t = Transcript("zkbench/v1/pseudonym/params")
    t.append("group", bn254.NAME)
    t.points("generators", *generators())
    return t.state


def start(kind, points, message):
    t = Transcript("zkbench/v1/pseudonym")
    t.append("params", digest())
    t.append("kind", kind)
    t.append("points", points)
    t.append("message", message)
    return t


def check_signature(kind, point, message, signature):
    """Checks a signature of knowledge under an encoded point."""
    must(len(signature) == 96, f"{kind}: another length")
    P, A = bn254.decode(point), bn254.decode(signature[:32])
    z = [decode_scalar(signature[32:64]), decode_scalar(signature[64:])]
    t = start(kind, point, message)
    t.append("A", signature[:32])
    c = t.challenge("c")
    must(sum_of(list(zip(z, generators())) + [(-1, A), (-c, P)]) is None, f"{kind}: the equation does not hold")


def check_audit(point, commitment, context, proof):
    must(len(proof) == 128, "audit: another length")
    c, z_key, z_p, z_e = (decode_scalar(proof[i : i + 32]) for i in range(0, 128, 32))
    G, H = generators()
    first = [sum_of([(z_key, G), (z, H), (-c, bn254.decode(q))]) for z, q in ((z_p, point), (z_e, commitment))]
    t = start("audit", point + commitment, context)
    t.points("A", *first)
    must(t.challenge("c") == c, "audit: another challenge")


def check_certificate(certificate, name, commitment, authority):
    """Checks that a certificate says this, and that the authority signed it."""
    said = bytes([1]) + len(name).to_bytes(2, "big") + name + commitment
    said += len(authority).to_bytes(2, "big") + authority
    must(certificate[:-64] == said, "the certificate says something else")
    t = Transcript("zkbench/v1/pseudonym/certificate")
    t.append("params", digest())
    t.append("name", name)
    t.append("commitment", commitment)
    t.append("authority", authority)
    signed = b"zkbench/v1/pseudonym/certificate\0" + t.state
    must(ed25519.signed(authority, signed, certificate[-64:]), "the certificate's signature does not hold")


def verify(record):
    must(record.word("group") == bn254.NAME, "another group than BN254")
    must(record.bytes("params") == digest(), "another digest of the parameters")
    name, request, authority = (record.bytes(k) for k in ("name", "request", "authority"))
    certificate, identity = record.bytes("certificate"), record.bytes("identity")
    message, signature = record.bytes("message"), record.bytes("signature")
    context, audit = record.bytes("context"), record.bytes("audit")
    record.end()

    commitment = request[:32]
    check_signature("enrolment", commitment, name, request[32:])
    check_certificate(certificate, name, commitment, authority)
    must(identity[:1] == bytes([PSEUDONYM]), "the identity is not a pseudonym")
    check_signature("signature", identity[1:], message, signature)
    check_audit(identity[1:], commitment, context, audit)
