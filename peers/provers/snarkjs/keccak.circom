pragma circom 2.0.0;

// Keccak-256 (the original padding) of n bytes, n below 136: one permutation, bit by bit. A lane
// (x, y) is bits 64(5y+x) to 64(5y+x)+63 of the state, the lowest first (FIPS 202, section 3).

template Xor() {
    signal input a;
    signal input b;
    signal output out;
    out <== a + b - 2*a*b;
}

function rotation(x, y) {
    var offset[25] = [0,1,62,28,27, 36,44,6,55,20, 3,10,43,25,39, 41,45,15,21,8, 18,2,61,56,14];
    return offset[5*y + x];
}

// The bits of the round constants, by the generator x^8+x^6+x^5+x^4+1 (section 3.2.5).
function iotaBit(round, z) {
    var j = -1;
    for (var i = 0; i < 7; i++) {
        if (z == (1 << i) - 1) { j = i; }
    }
    if (j < 0) { return 0; }
    var t = (j + 7*round) % 255;
    var r[9];
    r[0] = 1;
    for (var i = 1; i < 9; i++) { r[i] = 0; }
    for (var k = 0; k < t; k++) {
        for (var i = 8; i > 0; i--) { r[i] = r[i-1]; }
        r[0] = 0;
        r[0] = r[0] ^ r[8];
        r[4] = r[4] ^ r[8];
        r[5] = r[5] ^ r[8];
        r[6] = r[6] ^ r[8];
        r[8] = 0;
    }
    return r[0];
}

template Round(round) {
    signal input in[1600];
    signal output out[1600];
    component parity[5][64][4];
    component d[5][64];
    component theta[1600];
    signal rotated[1600];
    signal and[1600];
    component chi[1600];

    for (var x = 0; x < 5; x++) {
        for (var z = 0; z < 64; z++) {
            for (var y = 0; y < 4; y++) {
                parity[x][z][y] = Xor();
                parity[x][z][y].a <== y == 0 ? in[64*x + z] : parity[x][z][y-1].out;
                parity[x][z][y].b <== in[64*(5*(y+1) + x) + z];
            }
        }
    }
    for (var x = 0; x < 5; x++) {
        for (var z = 0; z < 64; z++) {
            d[x][z] = Xor();
            d[x][z].a <== parity[(x+4)%5][z][3].out;
            d[x][z].b <== parity[(x+1)%5][(z+63)%64][3].out;
        }
    }
    for (var x = 0; x < 5; x++) {
        for (var y = 0; y < 5; y++) {
            for (var z = 0; z < 64; z++) {
                var at = 64*(5*y + x) + z;
                theta[at] = Xor();
                theta[at].a <== in[at];
                theta[at].b <== d[x][z].out;
                // rho and pi: lane (x, y) goes to (y, 2x+3y), turned by its offset.
                rotated[64*(5*((2*x + 3*y) % 5) + y) + (z + rotation(x, y)) % 64] <== theta[at].out;
            }
        }
    }
    for (var x = 0; x < 5; x++) {
        for (var y = 0; y < 5; y++) {
            for (var z = 0; z < 64; z++) {
                var at = 64*(5*y + x) + z;
                and[at] <== (1 - rotated[64*(5*y + (x+1)%5) + z]) * rotated[64*(5*y + (x+2)%5) + z];
                chi[at] = Xor();
                chi[at].a <== rotated[at];
                chi[at].b <== and[at];
                if (at < 64 && iotaBit(round, z) == 1) {
                    out[at] <== 1 - chi[at].out;
                } else {
                    out[at] <== chi[at].out;
                }
            }
        }
    }
}

template Keccak256(n) {
    signal input message[8*n]; // bits, the lowest of each byte first
    signal output digest[2];   // 128 bits each, the first bit lowest
    component rounds[24];
    for (var r = 0; r < 24; r++) { rounds[r] = Round(r); }
    for (var i = 0; i < 8*n; i++) {
        message[i] * (message[i] - 1) === 0;
        rounds[0].in[i] <== message[i];
    }
    for (var i = 8*n; i < 1600; i++) {
        rounds[0].in[i] <== (i == 8*n ? 1 : 0) + (i == 1087 ? 1 : 0);
    }
    for (var r = 1; r < 24; r++) {
        for (var i = 0; i < 1600; i++) { rounds[r].in[i] <== rounds[r-1].out[i]; }
    }
    for (var half = 0; half < 2; half++) {
        var sum = 0;
        for (var i = 0; i < 128; i++) { sum += rounds[23].out[128*half + i] * (1 << i); }
        digest[half] <== sum;
    }
}
