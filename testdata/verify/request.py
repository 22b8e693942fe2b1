"""Requests and the parameters of a token system: docs/requests.md, "Encodings"."""

import hashlib

import action
import ed25519
import policy
from bulletproof import Bulletproof
from csp import CSP
from reader import Reader
from refused import must
from signing import to_sign
from transcript import Transcript


class Parameters:
    def __init__(self, data):
        r = Reader(data)
        must(r.number(2) == 2, "another version of the parameters")
        must(r.text(1) == "BN254", "another curve than BN254")
        self.bits = r.number(1)
        self.systems = {}
        for _ in range(r.number(1)):
            self.system(r)
        encoding = r.bytes(3)
        self.policy, self.policy_digest = policy.Policy(encoding), policy.digest(encoding)
        r.end()
        t = Transcript("zkbench/v1/public-params")
        t.append("encoding", data)
        self.digest = t.state

    def system(self, r):
        name, aggregation, stop, digest = r.text(1), r.number(2), r.number(2), r.take(64)
        must(1 <= self.bits <= 64 and stop >= 1, "parameters out of range")
        must(name in ("bulletproof", "bulletproof-agg", "csp"), "another range proof")
        if name == "csp":
            p = CSP(self.bits, stop)
        else:
            p = Bulletproof(name, self.bits, aggregation or 1, stop)
        must(action.digest(p) == digest, f"another digest of {name}")
        self.systems[name] = p


class Action:
    """An encoded action. What is read of it is what a ledger does with it, and what the proof is of."""

    def __init__(self, kind, raw):
        r = Reader(raw)
        must(r.number(1) == 2 and r.number(1) == kind, "another version or kind of the action")
        token = lambda: (r.bytes(2), r.take(32))  # owner, commitment
        self.inputs = r.list(2, lambda: (r.bytes(2), token())) if kind == action.TRANSFER else []
        self.outputs = r.list(2, lambda: (token(), r.bytes(2)))
        self.metadata = r.bytes(3)
        self.body = raw[: r.at]
        self.proof = r.bytes(3)
        r.end()

    def statement(self, kind, context):
        inputs = [commitment for _, (_, commitment) in self.inputs]
        return action.Statement(kind, context, self.body, inputs, [token[1] for token, _ in self.outputs])


class Request:
    def __init__(self, data):
        r = Reader(data)
        must(r.number(1) == 4, "another version of the request")
        self.anchor, self.until = r.bytes(1), r.number(8)
        self.actions = r.list(1, lambda: self.action(r))
        self.auditors = r.list(2, lambda: r.bytes(2))
        r.end()

    def action(self, r):
        kind, proof_type, raw = r.number(1), r.text(1), r.bytes(3)
        spends = r.list(1, lambda: (r.bytes(2), r.bytes(1), r.list(1, lambda: r.bytes(2))))
        issuer = r.bytes(2)
        return kind, proof_type, raw, spends, issuer, r.bytes(2) if issuer else None

    def message(self, ledger):
        t = Transcript("zkbench/v1/request")
        t.append("ledger", ledger)
        t.append("anchor", self.anchor)
        t.append("until", self.until)
        t.append("actions", len(self.actions))
        for kind, proof_type, raw, _, issuer, _ in self.actions:
            t.append("kind", kind)
            t.append("proof type", proof_type)
            t.append("issuer", issuer)
            t.append("action", raw)
        return t.state

    def audit_message(self, message):
        t = Transcript("zkbench/v1/request/audit")
        t.append("message", message)
        for _, _, _, spends, _, _ in self.actions:
            t.append("spends", len(spends))
            for unlock, _, _ in spends:
                t.append("unlock", unlock)
        return t.state


def check(params, ledger, tokens, request):
    """Checks a request of plain owners with Ed25519 keys, and applies it to the tokens of a ledger."""
    message = request.message(ledger)
    for i, (kind, proof_type, raw, spends, issuer, signature) in enumerate(request.actions):
        a = Action(kind, raw)
        must(proof_type in params.systems, "a proof type that the parameters do not have")
        must(kind != action.ISSUE or issuer, "an issue without an issuer")
        if issuer:
            must(issuer in [identity for identity, _ in params.policy.issuers], "an issuer that the policy does not have")
            signed = to_sign(message, "issuer", i, issuer)
            must(ed25519.signed(issuer, signed, signature), "the issuer's signature does not hold")
        must(len(spends) == len(a.inputs), "not one spend for each input")
        for (id, token), (_, _, signatures) in zip(a.inputs, spends):
            must(tokens.pop(id, None) == token, "an input that is not on the ledger")
            signed = to_sign(message, "owner", 0, token[0])
            must(len(signatures) == 1 and ed25519.signed(token[0], signed, signatures[0]), "an owner's signature does not hold")
        context = b"request action " + ledger + request.anchor + i.to_bytes(2, "big")
        action.verify_proof(params.systems[proof_type], a.statement(kind, context), a.proof)
        for j, (token, _) in enumerate(a.outputs):
            if token[0]:
                tokens[request.anchor + i.to_bytes(2, "big") + j.to_bytes(2, "big")] = token
    must(len(request.auditors) == len(params.policy.auditors), "not one signature for each auditor")
    audit = request.audit_message(message)
    for (auditor, _, _), signature in zip(params.policy.auditors, request.auditors):
        signed = to_sign(audit, "auditor", params.policy.version, auditor)
        must(ed25519.signed(auditor, signed, signature), "an auditor's signature does not hold")


def verify(record):
    params = Parameters(record.bytes("params"))
    must(record.bytes("params digest") == params.digest, "another digest of the parameters")
    genesis, ledger = record.bytes("genesis"), record.bytes("ledger id")
    must(genesis[:128] == params.digest + params.policy_digest and len(genesis) == 160, "another genesis")
    must(ledger == hashlib.sha256(b"zkbench/v3/ledger id" + genesis).digest(), "another id of the ledger")
    tokens = {}
    for name in "issue", "transfer":
        request = Request(record.bytes(f"{name} request"))
        must(request.actions and record.bytes(f"{name} action") == request.actions[0][2], "another action than the request's")
        message = request.message(ledger)
        must(record.bytes(f"{name} message") == message, "another message")
        must(record.bytes(f"{name} digest") == hashlib.sha256(message).digest(), "another digest of the request")
        before = set(tokens)
        check(params, ledger, tokens, request)
        for i, id in enumerate(sorted(set(tokens) - before)):
            owner, commitment = tokens[id]
            must(record.bytes(f"{name} token {i} id") == id, "another id of an output")
            stored = len(owner).to_bytes(2, "big") + owner + commitment
            must(record.bytes(f"{name} token {i}") == stored, "another token")
    record.end()
