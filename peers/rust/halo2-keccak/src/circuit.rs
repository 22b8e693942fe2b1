//! Keccak-256 of a message below one block, bit by bit: a row for each exclusive or, and one for each
//! bit of chi. Lanes (x, y) are bits 64(5y+x) and on of the state, the lowest first (FIPS 202, section 3).

use halo2_proofs::circuit::{AssignedCell, Layouter, Region, SimpleFloorPlanner, Value};
use halo2_proofs::pasta::Fp;
use halo2_proofs::plonk::{
    Advice, Circuit, Column, ConstraintSystem, Constraints, Error, Expression, Instance, Selector,
};
use halo2_proofs::poly::Rotation;

pub const RATE: usize = 136;

const OFFSETS: [usize; 25] = [
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];

/// The round constants, by the register of section 3.2.5.
fn constants() -> [u64; 24] {
    let mut register = 1u8;
    let mut constants = [0; 24];
    for constant in &mut constants {
        for j in 0..7 {
            if register & 1 == 1 {
                *constant |= 1 << ((1u32 << j) - 1);
            }
            register = (register << 1) ^ if register >> 7 == 1 { 0x71 } else { 0 };
        }
    }
    constants
}

#[derive(Clone)]
pub struct Config {
    cells: [Column<Advice>; 4],
    digest: Column<Instance>,
    xor: Selector,  // a + b = c as bits
    chi: Selector,  // d = a + (1 - b) c as bits
    bit: Selector,  // a is 0 or 1
    pack: Selector, // the next b is 2 b + a
}

#[derive(Clone)]
struct Bit {
    value: Value<bool>,
    cell: AssignedCell<Fp, Fp>,
}

/// The circuit; without a message, its shape.
#[derive(Clone)]
pub struct Keccak256 {
    pub length: usize,
    pub message: Option<Vec<u8>>,
}

impl Circuit<Fp> for Keccak256 {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;

    fn without_witnesses(&self) -> Self {
        Self {
            length: self.length,
            message: None,
        }
    }

    fn configure(meta: &mut ConstraintSystem<Fp>) -> Config {
        let cells = [(); 4].map(|()| meta.advice_column());
        let digest = meta.instance_column();
        let constant = meta.fixed_column();
        meta.enable_constant(constant);
        meta.enable_equality(digest);
        for column in cells {
            meta.enable_equality(column);
        }
        let one = || Expression::Constant(Fp::one());
        let two = || Expression::Constant(Fp::from(2));
        let [xor, chi, bit, pack] = [(); 4].map(|()| meta.selector());
        meta.create_gate("xor", |m| {
            let [a, b, c, _] = cells.map(|column| m.query_advice(column, Rotation::cur()));
            let sum = a.clone() + b.clone() - two() * a * b - c;
            Constraints::with_selector(m.query_selector(xor), [sum])
        });
        meta.create_gate("chi", |m| {
            let [a, b, c, d] = cells.map(|column| m.query_advice(column, Rotation::cur()));
            let and = (one() - b) * c;
            let sum = a.clone() + and.clone() - two() * a * and - d;
            Constraints::with_selector(m.query_selector(chi), [sum])
        });
        meta.create_gate("bit", |m| {
            let a = m.query_advice(cells[0], Rotation::cur());
            Constraints::with_selector(m.query_selector(bit), [a.clone() * (one() - a)])
        });
        meta.create_gate("pack", |m| {
            let a = m.query_advice(cells[0], Rotation::cur());
            let b = m.query_advice(cells[1], Rotation::cur());
            let next = m.query_advice(cells[1], Rotation::next());
            Constraints::with_selector(m.query_selector(pack), [two() * b + a - next])
        });
        Config {
            cells,
            digest,
            xor,
            chi,
            bit,
            pack,
        }
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fp>) -> Result<(), Error> {
        let packed = layouter.assign_region(
            || "keccak",
            |region| {
                Rows {
                    config: &config,
                    region,
                    at: 0,
                }
                .hash(self)
            },
        )?;
        for (i, cell) in packed.iter().enumerate() {
            layouter.constrain_instance(cell.cell(), config.digest, i)?;
        }
        Ok(())
    }
}

/// The rows of a region, one after the other.
struct Rows<'c, 'r> {
    config: &'c Config,
    region: Region<'r, Fp>,
    at: usize,
}

impl Rows<'_, '_> {
    fn assign(&mut self, column: usize, value: Value<bool>) -> Result<Bit, Error> {
        let cell = self.region.assign_advice(
            || "",
            self.config.cells[column],
            self.at,
            || value.map(|bit| Fp::from(u64::from(bit))),
        )?;
        Ok(Bit { value, cell })
    }

    fn copy(&mut self, column: usize, bit: &Bit) -> Result<(), Error> {
        bit.cell
            .copy_advice(
                || "",
                &mut self.region,
                self.config.cells[column],
                self.at,
            )
            .map(drop)
    }

    fn xor(&mut self, a: &Bit, b: &Bit) -> Result<Bit, Error> {
        self.config.xor.enable(&mut self.region, self.at)?;
        self.copy(0, a)?;
        self.copy(1, b)?;
        let c = self.assign(2, a.value.zip(b.value).map(|(a, b)| a ^ b))?;
        self.at += 1;
        Ok(c)
    }

    fn chi(&mut self, a: &Bit, b: &Bit, c: &Bit) -> Result<Bit, Error> {
        self.config.chi.enable(&mut self.region, self.at)?;
        self.copy(0, a)?;
        self.copy(1, b)?;
        self.copy(2, c)?;
        let value = a.value.zip(b.value).zip(c.value);
        let d = self.assign(3, value.map(|((a, b), c)| a ^ (!b & c)))?;
        self.at += 1;
        Ok(d)
    }

    fn constant(&mut self, bit: bool) -> Result<Bit, Error> {
        let cell = self.region.assign_advice_from_constant(
            || "",
            self.config.cells[0],
            self.at,
            Fp::from(u64::from(bit)),
        )?;
        self.at += 1;
        Ok(Bit {
            value: Value::known(bit),
            cell,
        })
    }

    fn message_bit(&mut self, value: Value<bool>) -> Result<Bit, Error> {
        self.config.bit.enable(&mut self.region, self.at)?;
        let bit = self.assign(0, value)?;
        self.at += 1;
        Ok(bit)
    }

    fn hash(&mut self, of: &Keccak256) -> Result<[AssignedCell<Fp, Fp>; 2], Error> {
        let mut state = Vec::with_capacity(1600);
        for i in 0..8 * of.length {
            let value = match &of.message {
                Some(message) => Value::known(message[i / 8] >> (i % 8) & 1 == 1),
                None => Value::unknown(),
            };
            state.push(self.message_bit(value)?);
        }
        let [zero, one] = [self.constant(false)?, self.constant(true)?];
        for i in 8 * of.length..1600 {
            let padding = i == 8 * of.length || i == 8 * RATE - 1;
            state.push(if padding { one.clone() } else { zero.clone() });
        }
        for constant in constants() {
            state = self.round(&state, constant, &one)?;
        }
        Ok([self.pack(&state[..128])?, self.pack(&state[128..256])?])
    }

    fn round(&mut self, state: &[Bit], constant: u64, one: &Bit) -> Result<Vec<Bit>, Error> {
        let at = |x: usize, y: usize, z: usize| 64 * (5 * y + x) + z;
        let mut parity = Vec::with_capacity(320);
        for x in 0..5 {
            for z in 0..64 {
                let mut sum = state[at(x, 0, z)].clone();
                for y in 1..5 {
                    sum = self.xor(&sum, &state[at(x, y, z)])?;
                }
                parity.push(sum);
            }
        }
        let mut rotated: Vec<Option<Bit>> = vec![None; 1600];
        for x in 0..5 {
            for z in 0..64 {
                let left = parity[64 * ((x + 4) % 5) + z].clone();
                let d = self.xor(&left, &parity[64 * ((x + 1) % 5) + (z + 63) % 64].clone())?;
                for y in 0..5 {
                    let to = at(y, (2 * x + 3 * y) % 5, (z + OFFSETS[5 * y + x]) % 64);
                    rotated[to] = Some(self.xor(&state[at(x, y, z)], &d)?);
                }
            }
        }
        let rotated: Vec<Bit> = rotated.into_iter().flatten().collect();
        let mut out = Vec::with_capacity(1600);
        for y in 0..5 {
            for x in 0..5 {
                for z in 0..64 {
                    let bit = self.chi(
                        &rotated[at(x, y, z)],
                        &rotated[at((x + 1) % 5, y, z)],
                        &rotated[at((x + 2) % 5, y, z)],
                    )?;
                    let flips = x == 0 && y == 0 && constant >> z & 1 == 1;
                    out.push(if flips { self.xor(&bit, one)? } else { bit });
                }
            }
        }
        Ok(out)
    }

    /// 128 bits as a number, the first bit highest.
    fn pack(&mut self, bits: &[Bit]) -> Result<AssignedCell<Fp, Fp>, Error> {
        let mut sum = self.region.assign_advice_from_constant(
            || "",
            self.config.cells[1],
            self.at,
            Fp::zero(),
        )?;
        for bit in bits {
            self.config.pack.enable(&mut self.region, self.at)?;
            self.copy(0, bit)?;
            let before = sum.value().copied();
            let added = bit.value.map(|b| Fp::from(u64::from(b)));
            self.at += 1;
            sum = self.region.assign_advice(
                || "",
                self.config.cells[1],
                self.at,
                || before + before + added,
            )?;
        }
        self.at += 1;
        Ok(sum)
    }
}

/// A digest as the circuit's instance has it.
pub fn instance(digest: &[u8; 32]) -> Vec<Fp> {
    let number = |half: &[u8]| {
        (0..128).fold(Fp::zero(), |sum, i| {
            sum.double() + Fp::from(u64::from(half[i / 8] >> (i % 8) & 1))
        })
    };
    vec![number(&digest[..16]), number(&digest[16..])]
}
