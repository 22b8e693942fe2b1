"""Policies and their updates: docs/requests.md, "The policy"."""

import hashlib

import ed25519
from reader import Reader
from refused import must
from signing import to_sign
from transcript import Transcript

MARK = 0x80


class Policy:
    def __init__(self, data):
        r = Reader(data)
        must(r.number(1) == 2, "another format of the policy")
        self.version = r.number(8)
        self.issuers = r.list(2, lambda: (r.bytes(2), r.list(2, lambda: r.bytes(2))))
        self.auditors = r.list(2, lambda: (r.bytes(2), r.number(2), r.bytes(2)))
        self.owners, self.redeem = r.number(1), r.number(1)
        self.inputs, self.outputs, self.metadata = r.number(2), r.number(2), r.number(3)
        self.ahead, self.notes = r.number(4), r.number(2)
        self.validators = r.list(2, lambda: (r.take(32), r.bytes(1)))
        self.head_threshold = r.number(2)
        self.administrators = r.list(2, lambda: r.bytes(2))
        self.threshold = r.number(2)
        r.end()


def digest(data):
    t = Transcript("zkbench/v1/policy")
    t.append("encoding", data)
    return t.state


def verify(record):
    before, after = record.bytes("policy 0"), record.bytes("policy 1")
    must(record.bytes("policy 0 digest") == digest(before), "another digest of policy 0")
    r = Reader(record.bytes("update"))
    must(r.number(1) == MARK | 1, "another version of the update")
    ledger, previous, policy = r.take(32), r.take(64), r.bytes(3)
    signatures = r.list(2, lambda: (r.bytes(2), r.bytes(2)))
    r.end()
    must(policy == after and previous == digest(before), "the update is of other policies")
    before, after = Policy(before), Policy(after)
    must(after.version == before.version + 1, "the version is not the next one")

    t = Transcript("zkbench/v1/policy/update")
    t.append("ledger", ledger)
    t.append("version", after.version)
    t.append("previous", previous)
    t.append("policy", policy)
    short = hashlib.sha256(t.state).hexdigest()
    must(record.bytes("update message") == t.state, "another message")
    must(record.word("update digest") == short, "another digest of the update")
    groups = "-".join(short[i : i + 4] for i in range(0, 40, 4))
    must(record.word("update short digest") == groups, "another short digest")
    anchor = b"zkbench/policy/" + after.version.to_bytes(8, "big")
    must(record.bytes("update anchor") == anchor, "another anchor")
    record.end()

    signers = [signer for signer, _ in signatures]
    must(signers == sorted(set(signers)), "signers are not in ascending order")
    for signer, signature in signatures:
        must(signer in before.administrators + after.administrators, "a signer who is no administrator")
        must(ed25519.signed(signer, to_sign(t.state, "administrator", 0, signer), signature), "a signature does not hold")
    for p in before, after:
        must(sum(s in p.administrators for s in signers) >= p.threshold, "too few administrators have signed")
