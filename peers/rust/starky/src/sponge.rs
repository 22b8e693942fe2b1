//! The table of the sponge, a row a block, and behind the last one the state that it
//! leaves.
//!
//! A row has the state before its block, and the rate after it. The message itself has no
//! columns: a block is the exclusive or of the two, whatever they are, and all that is to
//! be shown of it is that the last one ends with the padding. So bits are needed of the one
//! limb where the padding begins, and for its last bit, of limb 33.

use crate::expr::{D, Eval, F, Rows, Targets, Values, packed};
use crate::keccak::{Block, RATE, limb};
use crate::permutations::LIMBS;
use plonky2::field::extension::FieldExtension;
use plonky2::field::packed::PackedField;
use plonky2::field::polynomial::PolynomialValues;
use plonky2::field::types::Field;
use plonky2::iop::ext_target::ExtensionTarget;
use plonky2::plonk::circuit_builder::CircuitBuilder;
use starky::constraint_consumer::{ConstraintConsumer, RecursiveConstraintConsumer};
use starky::evaluation_frame::{StarkEvaluationFrame, StarkFrame};
use starky::lookup::{Column, Filter};
use starky::stark::Stark;

/// Limbs of the rate.
const BLOCK: usize = RATE / 4;
/// Limbs of a digest.
pub const DIGEST: usize = 8;

// Where the columns are.
const REAL: usize = 0; // 1 in rows of blocks
const LAST: usize = REAL + 1; // 1 in the last of them
const NUMBER: usize = LAST + 1;
const STATE: usize = NUMBER + 1;
const RATE_AFTER: usize = STATE + LIMBS;
const AT_LIMB: usize = RATE_AFTER + BLOCK; // in the last block, where the padding begins
const AT_BYTE: usize = AT_LIMB + BLOCK; // and which byte of that limb it is
const OLD: usize = AT_BYTE + 4; // bits of that limb, before the block and after it
const NEW: usize = OLD + 32;
const TOP: usize = NEW + 32; // the highest bit of limb 33 before the block
pub const COLUMNS: usize = TOP + 1;

/// The digest, then how many bytes the message has.
pub const PUBLIC: usize = DIGEST + 1;

#[derive(Clone, Copy)]
pub struct Sponge;

/// The number of a permutation and its first state.
pub fn inputs() -> Vec<Column<F>> {
    [NUMBER]
        .into_iter()
        .chain(RATE_AFTER..RATE_AFTER + BLOCK)
        .chain(STATE + BLOCK..STATE + LIMBS)
        .map(Column::single)
        .collect()
}

/// The number of a permutation and its last state.
pub fn outputs() -> Vec<Column<F>> {
    let state = (STATE..STATE + LIMBS).map(Column::single_next_row);
    [Column::single(NUMBER)].into_iter().chain(state).collect()
}

pub fn filter() -> Filter<F> {
    Filter::new_simple(Column::single(REAL))
}

/// The height of the table of so many blocks.
pub fn rows(blocks: usize) -> usize {
    (blocks + 1).next_power_of_two().max(16)
}

pub fn trace(blocks: &[Block], length: usize) -> Vec<PolynomialValues<F>> {
    let mut columns = vec![vec![F::ZERO; rows(blocks.len())]; COLUMNS];
    for (row, number) in columns[NUMBER].iter_mut().enumerate() {
        *number = F::from_canonical_usize(row);
    }
    let mut set = |row: usize, column: usize, value: u32| {
        columns[column][row] = F::from_canonical_u32(value);
    };
    for (row, block) in blocks.iter().enumerate() {
        set(row, REAL, 1);
        for l in 0..LIMBS {
            set(row, STATE + l, limb(&block.before, l));
            set(row + 1, STATE + l, limb(&block.after, l));
        }
        for l in 0..BLOCK {
            set(row, RATE_AFTER + l, limb(&block.input, l));
        }
    }
    let row = blocks.len() - 1;
    let (last, at) = (&blocks[row], length % RATE);
    set(row, LAST, 1);
    set(row, AT_LIMB + at / 4, 1);
    set(row, AT_BYTE + at % 4, 1);
    for z in 0..32 {
        set(row, OLD + z, limb(&last.before, at / 4) >> z & 1);
        set(row, NEW + z, limb(&last.input, at / 4) >> z & 1);
    }
    set(row, TOP, limb(&last.before, BLOCK - 1) >> 31);
    columns.into_iter().map(PolynomialValues::new).collect()
}

fn constrain<V: Eval>(e: &mut V, here: &[V::E], next: &[V::E], public: &[V::E]) {
    let one = e.constant(1);
    let (real, last) = (here[REAL], here[LAST]);

    // Blocks are the first rows, one and more, and not all rows.
    e.bit(real);
    let not = e.sub(real, one);
    e.zero(Rows::First, not);
    e.zero(Rows::Last, real);
    e.zero(Rows::Last, last);
    let ends = e.sub(one, next[REAL]);
    let not = e.fma(1, real, ends, -1, last);
    e.zero(Rows::ButLast, not);
    let other = e.sub(one, real);
    let not = e.mul(other, next[REAL]);
    e.zero(Rows::ButLast, not);

    // They are counted, and the state begins as zeros. That it goes on is what the permutations'
    // table shows: its last states are next rows' here. The capacity has no second columns.
    e.zero(Rows::First, here[NUMBER]);
    let counted = e.sub(next[NUMBER], here[NUMBER]);
    let not = e.sub(counted, one);
    e.zero(Rows::ButLast, not);
    for l in 0..LIMBS {
        e.zero(Rows::First, here[STATE + l]);
    }
    for l in 0..DIGEST {
        let change = e.sub(next[STATE + l], public[l]);
        let not = e.mul(last, change);
        e.zero(Rows::ButLast, not);
    }

    // Where the padding begins: after the public number of bytes.
    let limbs = &here[AT_LIMB..AT_LIMB + BLOCK];
    let bytes = &here[AT_BYTE..AT_BYTE + 4];
    let mut length = e.sum(RATE as i64, here[NUMBER], -1, public[DIGEST]);
    for (flags, size) in [(limbs, 4), (bytes, 1)] {
        for (i, &flag) in flags.iter().enumerate() {
            e.bit(flag);
            length = e.sum(size * i as i64, flag, 1, length);
        }
        let all = e.total(flags.iter().copied());
        let not = e.sub(all, last);
        e.zero(Rows::All, not);
    }
    let not = e.mul(last, length);
    e.zero(Rows::All, not);

    // The limb where it begins, and zeros behind it up to limb 33.
    let none = e.constant(0);
    let [mut old, mut new, mut behind] = [none; 3];
    for l in 0..BLOCK {
        let (before, after) = (here[STATE + l], here[RATE_AFTER + l]);
        if l < BLOCK - 1 {
            let change = e.sub(after, before);
            let not = e.mul(behind, change);
            e.zero(Rows::All, not);
            behind = e.sum(1, limbs[l], 1, behind);
        }
        old = e.fma(1, limbs[l], before, 1, old);
        new = e.fma(1, limbs[l], after, 1, new);
    }
    for (at, limb) in [(OLD, old), (NEW, new)] {
        for &bit in &here[at..at + 32] {
            e.bit(bit);
        }
        let number = e.number(&here[at..at + 32]);
        let not = e.sub(number, limb);
        e.zero(Rows::All, not);
    }

    // Limb 33, where the padding began before it: its highest bit changes. Both limbs are below
    // 2^32, since a permutation begins and ends with such, so that `TOP` can be but that bit.
    e.bit(here[TOP]);
    let change = e.sub(here[RATE_AFTER + BLOCK - 1], here[STATE + BLOCK - 1]);
    let change = e.sum(1 << 32, here[TOP], 1, change);
    let half = e.constant(1 << 31);
    let not = e.sub(change, half);
    let not = e.mul(behind, not);
    e.zero(Rows::All, not);

    // In the limb where it begins: the padding's first bit changes, those behind it do not, but
    // for the highest one if it is limb 33.
    let mut behind = none;
    for byte in 0..4 {
        let within = e.sum(1, bytes[byte], 1, behind);
        for z in 8 * byte..8 * byte + 8 {
            let change = e.sub(here[NEW + z], here[OLD + z]);
            let sign = e.sign(here[OLD + z]);
            let not = match z {
                31 => {
                    let change = e.fma(-1, limbs[BLOCK - 1], sign, 1, change);
                    e.mul(within, change)
                }
                z if z % 8 == 0 => {
                    let stays = e.mul(within, change);
                    e.fma(-1, bytes[byte], sign, 1, stays)
                }
                _ => e.mul(within, change),
            };
            e.zero(Rows::All, not);
        }
        behind = within;
    }
}

impl Stark<F, D> for Sponge {
    type EvaluationFrame<FE, P, const D2: usize>
        = StarkFrame<P, P::Scalar, COLUMNS, PUBLIC>
    where
        FE: FieldExtension<D2, BaseField = F>,
        P: PackedField<Scalar = FE>;

    type EvaluationFrameTarget =
        StarkFrame<ExtensionTarget<D>, ExtensionTarget<D>, COLUMNS, PUBLIC>;

    fn eval_packed_generic<FE, P, const D2: usize>(
        &self,
        vars: &Self::EvaluationFrame<FE, P, D2>,
        consumer: &mut ConstraintConsumer<P>,
    ) where
        FE: FieldExtension<D2, BaseField = F>,
        P: PackedField<Scalar = FE>,
    {
        constrain(
            &mut Values(consumer),
            vars.get_local_values(),
            vars.get_next_values(),
            &packed(vars.get_public_inputs()),
        );
    }

    fn eval_ext_circuit(
        &self,
        builder: &mut CircuitBuilder<F, D>,
        vars: &Self::EvaluationFrameTarget,
        consumer: &mut RecursiveConstraintConsumer<F, D>,
    ) {
        constrain(
            &mut Targets { builder, consumer },
            vars.get_local_values(),
            vars.get_next_values(),
            vars.get_public_inputs(),
        );
    }

    fn constraint_degree(&self) -> usize {
        3
    }

    fn requires_ctls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::tests::holds;
    use crate::keccak::{absorb, blocks, digest, pad};
    use starky::stark_testing::{test_stark_circuit_constraints, test_stark_low_degree};

    #[test]
    fn degree() {
        test_stark_low_degree(Sponge).unwrap();
    }

    #[test]
    fn circuit() {
        test_stark_circuit_constraints::<F, crate::expr::C, _, D>(Sponge).unwrap();
    }

    fn public(blocks: &[Block], length: usize) -> Vec<F> {
        let words = digest(blocks).map(F::from_canonical_u32);
        let length = F::from_canonical_usize(length);
        words.into_iter().chain([length]).collect()
    }

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * i + 7 * i) as u8).collect()
    }

    #[test]
    fn claims_are_bound() {
        for length in 0..2 * RATE + 2 {
            let blocks = absorb(&pad(&message(length)));
            let trace = trace(&blocks, length);
            let mut claim = public(&blocks, length);
            assert!(holds(&Sponge, &trace, &claim), "{length} bytes");
            for value in 0..PUBLIC {
                claim[value] += F::ONE;
                assert!(
                    !holds(&Sponge, &trace, &claim),
                    "{length} bytes, value {value}"
                );
                claim[value] -= F::ONE;
            }
        }
    }

    /// All bits of the message may be others, and no bit of the padding.
    #[test]
    fn padding_is_bound() {
        for length in [0, 1, 2, 3, 4, 7, 130, 131, 132, 133, 134, 135, 136, 271] {
            for byte in 0..blocks(length) * RATE {
                for bit in 0..8 {
                    let mut padded = pad(&message(length));
                    padded[byte] ^= 1 << bit;
                    let blocks = absorb(&padded);
                    let mut trace = trace(&blocks, length);
                    for _ in 0..2 {
                        let ok = holds(&Sponge, &trace, &public(&blocks, length));
                        let top = &mut trace[TOP].values[blocks.len() - 1];
                        assert!(
                            ok == (byte < length),
                            "{length} bytes, byte {byte} bit {bit}"
                        );
                        if byte >= length {
                            *top = F::ONE - *top;
                        }
                    }
                }
            }
        }
    }

    /// Flags, numbers and bits of a block cannot be others.
    #[test]
    fn cells_are_bound() {
        let length = RATE + 61;
        let blocks = absorb(&pad(&message(length)));
        let (claim, mut trace) = (public(&blocks, length), trace(&blocks, length));
        for row in 0..3 {
            for column in (REAL..STATE).chain(AT_LIMB..TOP) {
                let cell = trace[column].values[row];
                for other in [F::ONE - cell, cell + F::ONE] {
                    if other != cell {
                        trace[column].values[row] = other;
                        assert!(
                            !holds(&Sponge, &trace, &claim),
                            "row {row}, column {column}"
                        );
                    }
                }
                trace[column].values[row] = cell;
            }
        }
    }
}
