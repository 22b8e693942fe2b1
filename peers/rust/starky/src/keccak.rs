//! Keccak-f[1600] and Keccak-256, from FIPS 202; Keccak-256 pads with a 1 where SHA-3
//! has a suffix before it.

/// Lanes are x + 5 y.
pub type State = [u64; 25];

pub const ROUNDS: usize = 24;
/// Bytes of a block.
pub const RATE: usize = 136;

/// The left rotations of ρ.
pub fn rotations() -> [u32; 25] {
    let mut rotations = [0; 25];
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        rotations[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % 5);
    }
    rotations
}

/// The places in a lane where a constant of ι can have a one.
pub const PLACES: [usize; 7] = [0, 1, 3, 7, 15, 31, 63];

/// The constants of ι: bits of a shift register, seven a round.
pub fn constants() -> [u64; ROUNDS] {
    let mut register = 1u8;
    [(); ROUNDS].map(|()| {
        let mut constant = 0;
        for place in PLACES {
            constant |= u64::from(register & 1) << place;
            let carry = register >> 7;
            register = register << 1 ^ carry * 0x71;
        }
        constant
    })
}

/// What a round computes on its way, as its row shows it.
pub struct Round {
    pub before: State,
    /// Parities of columns, before and after θ.
    pub parity: [[u64; 5]; 2],
    pub theta: State,
    /// After χ, before ι.
    pub chi: State,
    pub after: State,
}

/// Where π takes lane x of row y of its output from.
pub fn source(x: usize, y: usize) -> usize {
    (x + 3 * y) % 5 + 5 * x
}

pub fn round(before: &State, constant: u64) -> Round {
    let rotations = rotations();
    let parities = |s: &State| -> [u64; 5] {
        std::array::from_fn(|x| (0..5).fold(0, |p, y| p ^ s[x + 5 * y]))
    };
    let c = parities(before);
    let theta: State =
        std::array::from_fn(|i| before[i] ^ c[(i + 4) % 5] ^ c[(i + 1) % 5].rotate_left(1));
    let b = |x: usize, y: usize| {
        let from = source(x % 5, y);
        theta[from].rotate_left(rotations[from])
    };
    let chi: State = std::array::from_fn(|i| {
        let (x, y) = (i % 5, i / 5);
        b(x, y) ^ !b(x + 1, y) & b(x + 2, y)
    });
    let mut after = chi;
    after[0] ^= constant;
    Round {
        before: *before,
        parity: [c, parities(&theta)],
        theta,
        chi,
        after,
    }
}

pub fn permutation(state: &State) -> State {
    constants()
        .iter()
        .fold(*state, |state, &constant| round(&state, constant).after)
}

/// A block of a message and the state around it.
pub struct Block {
    pub before: State,
    /// What the permutation begins with.
    pub input: State,
    pub after: State,
}

/// How many blocks a message of so many bytes has.
pub fn blocks(length: usize) -> usize {
    length / RATE + 1
}

pub fn pad(message: &[u8]) -> Vec<u8> {
    let mut padded = message.to_vec();
    padded.resize(blocks(message.len()) * RATE, 0);
    padded[message.len()] ^= 0x01;
    *padded.last_mut().expect("a block") ^= 0x80;
    padded
}

pub fn absorb(padded: &[u8]) -> Vec<Block> {
    let mut state = [0; 25];
    padded
        .chunks(RATE)
        .map(|block| {
            let before = state;
            for (lane, bytes) in state.iter_mut().zip(block.chunks(8)) {
                *lane ^= u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
            let input = state;
            state = permutation(&input);
            Block {
                before,
                input,
                after: state,
            }
        })
        .collect()
}

/// The digest, in words of 32 bits, the lowest byte of each first.
pub fn digest(blocks: &[Block]) -> [u32; 8] {
    let last = &blocks.last().expect("a block").after;
    std::array::from_fn(|i| limb(last, i))
}

/// Half a lane, the lower one first.
pub fn limb(state: &State, i: usize) -> u32 {
    (state[i / 2] >> (32 * (i % 2))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digest() {
        // Keccak-256 of nothing, as Ethereum has it for an account without code.
        let bytes: Vec<u8> = digest(&absorb(&pad(&[])))
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            hex,
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
        );
    }
}
