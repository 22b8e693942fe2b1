// prepare.mjs BYTES: circuit, reference string and keys for messages of so many bytes, once; all is
// for measuring, its secrets are known. Prints the number of constraints.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { r1cs, zKey } from "snarkjs";

const bytes = Number(process.argv[2]);
if (!(bytes >= 0 && bytes < 136)) {
    console.error(`bytes: ${process.argv[2]} is not accepted; accepted: 0 to 135, one block`);
    process.exit(2);
}
const power = 18;
const name = `build/keccak${bytes}`;
const ptau = `build/pot${power}.ptau`;
mkdirSync("build", { recursive: true });

// once makes a file as a whole.
async function once(file, make) {
    if (!existsSync(file)) {
        await make(`${file}.tmp`);
        renameSync(`${file}.tmp`, file);
    }
}

await once(`${name}.r1cs`, (out) => {
    writeFileSync(`${name}.circom`, `pragma circom 2.0.0;\ninclude "../keccak.circom";\ncomponent main = Keccak256(${bytes});\n`);
    execFileSync("node_modules/.bin/circom2", [`${name}.circom`, "--r1cs", "--wasm", "--O1", "-o", "build"], { stdio: "ignore" });
    renameSync(`${name}.r1cs`, out);
});
await once(ptau, (out) => execFileSync("go", ["run", "-C", "../ptau", ".", String(power), resolve(out)]));
await once(`${name}.zkey`, (out) => zKey.newZKey(`${name}.r1cs`, ptau, out));
await once(`${name}.json`, async (out) => writeFileSync(out, JSON.stringify(await zKey.exportVerificationKey(`${name}.zkey`))));
console.log("constraints:", (await r1cs.info(`${name}.r1cs`)).nConstraints);
process.exit(0); // snarkjs keeps its workers
