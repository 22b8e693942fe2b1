#!/bin/sh
# verify.sh INPUT PROOF: is the proof the digest of the input?
openssl dgst -sha256 -binary "$1" | cmp -s - "$2"
