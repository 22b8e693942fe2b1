#!/usr/bin/env python3
"""A resident prover for zkbench exec: a line of JSON in, a line of JSON out."""
import hashlib, json, sys


def prove(path):  # this prover's proof is the SHA-256 of its input
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


for line in sys.stdin:
    question = json.loads(line)
    if question["do"] == "start":
        answer = {"result": "ready", "protocol": 1, "figures": {"blocks": int(question["axes"]["bytes"]) // 64 + 1}}
    elif question["do"] == "prove":
        answer = {"result": prove(question["input"]), "bytes": 32}
    elif question["result"] == prove(question["input"]):
        answer = {"result": "ok"}
    else:
        answer = {"error": "not a proof"}
    print(json.dumps(answer), flush=True)
