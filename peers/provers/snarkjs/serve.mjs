// serve.mjs: Groth16 of Keccak-256 by snarkjs as a resident prover (docs/provers.md).
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { keccak_256 } from "@noble/hashes/sha3";
import { groth16, r1cs } from "snarkjs";

let circuit, key, verifying, constraints;

// The digest as the circuit has it: two numbers of 128 bits, the first byte lowest.
function digest(message) {
    const hash = keccak_256(message);
    return [0, 16].map((from) => hash.slice(from, from + 16).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n).toString());
}

const tasks = {
    async start({ axes }) {
        const name = `build/keccak${axes.bytes}`;
        circuit = new Uint8Array(readFileSync(`${name}_js/keccak${axes.bytes}.wasm`));
        key = new Uint8Array(readFileSync(`${name}.zkey`));
        verifying = JSON.parse(readFileSync(`${name}.json`));
        constraints = (await r1cs.info(`${name}.r1cs`)).nConstraints;
        return { result: "ready", protocol: 1, figures: { constraints, "proving key": key.length } };
    },
    async prove({ input }) {
        const message = readFileSync(input);
        const bits = [...message].flatMap((byte) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => (byte >> i) & 1));
        const { proof, publicSignals } = await groth16.fullProve({ message: bits }, circuit, key);
        return { result: JSON.stringify({ proof, publicSignals }), bytes: 128 }; // compressed, as others count it
    },
    async verify({ input, result }) {
        const { proof, publicSignals } = JSON.parse(result);
        if (publicSignals.join() !== digest(readFileSync(input)).join()) {
            return { error: "of another digest" };
        }
        return (await groth16.verify(verifying, publicSignals, proof)) ? { result: "ok" } : { error: "not a proof" };
    },
};

for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line);
    let answer;
    try {
        answer = await tasks[question.do](question);
    } catch (error) {
        answer = { error: String(error) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0); // snarkjs keeps its workers
