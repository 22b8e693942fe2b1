//! The table of permutations Keccak-f, a row a round. Rows behind the last permutation
//! are zeros.
//!
//! The state before a round is in limbs of 32 bits; bits are those of the columns'
//! parities before and after θ, and of the state after θ, from which those before it
//! follow. Of lane 0 after χ there are only the bits that ι may change.

use crate::expr::{D, Eval, F, Rows, Targets, Values};
use crate::keccak::{PLACES, ROUNDS, State, constants, limb, rotations, round, source};
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

pub const LIMBS: usize = 50;

// Where the columns are. A flag is 1 in its round's rows.
const FLAGS: usize = 0;
const NUMBER: usize = FLAGS + ROUNDS;
const BEFORE: usize = NUMBER + 1;
const PARITY: [usize; 2] = [BEFORE + LIMBS, BEFORE + LIMBS + 320];
const THETA: usize = PARITY[1] + 320;
const IOTA: usize = THETA + 1600;
const AFTER: usize = IOTA + PLACES.len();
pub const COLUMNS: usize = AFTER + LIMBS;

#[derive(Clone, Copy)]
pub struct Permutations {
    /// Whether another table looks into this one.
    pub linked: bool,
}

/// The number of a permutation and its first state.
pub fn inputs() -> Vec<Column<F>> {
    std::iter::once(NUMBER)
        .chain(BEFORE..BEFORE + LIMBS)
        .map(Column::single)
        .collect()
}

pub fn inputs_filter() -> Filter<F> {
    Filter::new_simple(Column::single(FLAGS))
}

/// The number of a permutation and its last state.
pub fn outputs() -> Vec<Column<F>> {
    std::iter::once(NUMBER)
        .chain(AFTER..AFTER + LIMBS)
        .map(Column::single)
        .collect()
}

pub fn outputs_filter() -> Filter<F> {
    Filter::new_simple(Column::single(FLAGS + ROUNDS - 1))
}

/// The height of the table of so many permutations.
pub fn rows(permutations: usize) -> usize {
    (permutations * ROUNDS).next_power_of_two()
}

pub fn trace(states: &[State]) -> Vec<PolynomialValues<F>> {
    let mut columns = vec![vec![F::ZERO; rows(states.len())]; COLUMNS];
    let constants = constants();
    for (number, state) in states.iter().enumerate() {
        let mut state = *state;
        for (i, &constant) in constants.iter().enumerate() {
            let row = number * ROUNDS + i;
            let mut set = |column: usize, value: u64| {
                columns[column][row] = F::from_canonical_u64(value);
            };
            let round = round(&state, constant);
            set(FLAGS + i, 1);
            set(NUMBER, number as u64);
            for l in 0..LIMBS {
                set(BEFORE + l, limb(&round.before, l).into());
                set(AFTER + l, limb(&round.after, l).into());
            }
            for (at, parity) in PARITY.into_iter().zip(round.parity) {
                for j in 0..320 {
                    set(at + j, parity[j / 64] >> (j % 64) & 1);
                }
            }
            for j in 0..1600 {
                set(THETA + j, round.theta[j / 64] >> (j % 64) & 1);
            }
            for (j, place) in PLACES.into_iter().enumerate() {
                set(IOTA + j, round.chi[0] >> place & 1);
            }
            state = round.after;
        }
    }
    columns.into_iter().map(PolynomialValues::new).collect()
}

/// Bits of 32 signs, as twice the number less 2^32 - 1, with the other sign; so that a
/// limb and its signs' sum are compared without halves.
fn limb_is<V: Eval>(e: &mut V, limb: V::E, sum: V::E) {
    let all = e.constant(u64::from(u32::MAX));
    let twice = e.sum(2, limb, 1, sum);
    let not = e.sub(twice, all);
    e.zero(Rows::All, not);
}

fn constrain<V: Eval>(e: &mut V, here: &[V::E], next: &[V::E]) {
    rounds_follow(e, here, next);

    let parity: Vec<V::E> = here[PARITY[0]..PARITY[1]]
        .iter()
        .map(|&b| e.sign(b))
        .collect();
    let theta = &here[THETA..THETA + 1600];
    for &bit in here[PARITY[0]..PARITY[1]].iter().chain(theta) {
        e.bit(bit);
    }

    // θ changes a column where the parities of two others differ. Products of signs are signs,
    // so that the parities after it, which follow, are bits too.
    let change: Vec<V::E> = (0..320)
        .map(|i| {
            let (x, z) = (i / 64, i % 64);
            let [left, right] = [64 * ((x + 4) % 5) + z, 64 * ((x + 1) % 5) + (z + 63) % 64];
            e.mul(parity[left], parity[right])
        })
        .collect();
    for i in 0..320 {
        let after = here[PARITY[1] + i];
        let sign = e.sign(after);
        let not = e.fma(1, change[i], parity[i], -1, sign);
        e.zero(Rows::All, not);
        // What is called the parity after θ is that: five bits less it are 0, 2 or 4.
        let ones = e.total((0..5).map(|y| theta[i + 320 * y]));
        let even = e.sub(ones, after);
        let other = e.fma(1, even, even, -4, even);
        let not = e.fma(1, other, even, -2, other);
        e.zero(Rows::All, not);
    }

    // The state before it differs by the same change, and its columns' parities too, so that these
    // are what the change was computed from.
    let signs: Vec<V::E> = theta.iter().map(|&b| e.sign(b)).collect();
    let none = e.constant(0);
    for l in 0..LIMBS {
        let (lane, low) = (l / 2, 32 * (l % 2));
        let sum = (low..low + 32).rev().fold(none, |sum, z| {
            e.fma(1, signs[64 * lane + z], change[64 * (lane % 5) + z], 2, sum)
        });
        limb_is(e, here[BEFORE + l], sum);
    }

    // ρ, π and χ; and of lane 0, ι.
    let rotations = rotations();
    let rho = |x: usize, y: usize, z: usize| {
        let from = source(x % 5, y);
        64 * from + (z + 64 - rotations[from] as usize) % 64
    };
    let constants = constants();
    for l in 0..LIMBS {
        let (x, y, low) = (l / 2 % 5, l / 10, 32 * (l % 2));
        let sum = (low..low + 32).rev().fold(none, |sum, z| {
            let [b0, b1, b2] = [0, 1, 2].map(|i| rho(x + i, y, z));
            let changed = e.fma(2, theta[b1], theta[b2], 1, signs[b2]);
            let place = PLACES.iter().position(|&p| l < 2 && p == z);
            let Some(j) = place else {
                return e.fma(1, signs[b0], changed, 2, sum);
            };
            let bit = e.sign(here[IOTA + j]);
            let not = e.fma(1, signs[b0], changed, -1, bit);
            e.zero(Rows::All, not);
            let flags = (0..ROUNDS).filter(|&i| constants[i] >> z & 1 == 1);
            let constant = e.total(flags.map(|i| here[FLAGS + i]));
            let constant = e.sign(constant);
            e.fma(1, bit, constant, 2, sum)
        });
        limb_is(e, here[AFTER + l], sum);
    }
}

/// Rounds of a permutation stand one below the other; their number and state go on.
fn rounds_follow<V: Eval>(e: &mut V, here: &[V::E], next: &[V::E]) {
    e.bit(here[FLAGS]);
    for i in 1..ROUNDS {
        e.zero(Rows::First, here[FLAGS + i]);
        let not = e.sub(next[FLAGS + i], here[FLAGS + i - 1]);
        e.zero(Rows::ButLast, not);
    }
    let goes_on = e.total((0..ROUNDS - 1).map(|i| here[FLAGS + i]));
    let not = e.mul(goes_on, next[FLAGS]);
    e.zero(Rows::ButLast, not);
    let pairs = (0..LIMBS).map(|l| (BEFORE + l, AFTER + l));
    for (to, from) in pairs.chain([(NUMBER, NUMBER)]) {
        let change = e.sub(next[to], here[from]);
        let not = e.mul(goes_on, change);
        e.zero(Rows::ButLast, not);
    }
}

impl Stark<F, D> for Permutations {
    type EvaluationFrame<FE, P, const D2: usize>
        = StarkFrame<P, P::Scalar, COLUMNS, 0>
    where
        FE: FieldExtension<D2, BaseField = F>,
        P: PackedField<Scalar = FE>;

    type EvaluationFrameTarget = StarkFrame<ExtensionTarget<D>, ExtensionTarget<D>, COLUMNS, 0>;

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
        );
    }

    fn constraint_degree(&self) -> usize {
        3
    }

    fn requires_ctls(&self) -> bool {
        self.linked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::tests::holds;
    use starky::stark_testing::{test_stark_circuit_constraints, test_stark_low_degree};

    #[test]
    fn degree() {
        test_stark_low_degree(Permutations { linked: false }).unwrap();
    }

    #[test]
    fn circuit() {
        test_stark_circuit_constraints::<F, crate::expr::C, _, D>(Permutations { linked: false })
            .unwrap();
    }

    /// No cell of a permutation can have another value, and no row of it stand elsewhere.
    #[test]
    fn every_cell_is_bound() {
        let stark = Permutations { linked: false };
        let mut trace = trace(&[[0x0123_4567_89ab_cdef; 25], [u64::MAX; 25]]);
        assert!(holds(&stark, &trace, &[]));
        for row in [0, 23, 30] {
            for column in 0..COLUMNS {
                let cell = trace[column].values[row];
                for other in [F::ONE - cell, cell + F::ONE] {
                    trace[column].values[row] = other;
                    assert!(!holds(&stark, &trace, &[]), "row {row}, column {column}");
                }
                trace[column].values[row] = cell;
            }
        }
    }
}
