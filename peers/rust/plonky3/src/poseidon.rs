//! Poseidon with the constants of Polygon's Hermez prover and plonky2.
//!
//! Plonky3's own instance of width 12 has other round constants and another
//! circulant matrix. Its layers take any, so this is the published permutation on
//! Plonky3's code, as fast as its own instance where that is made of these layers: on
//! every processor but ARM's.

use crate::constants::ROUND_CONSTANTS;
use crate::matrix::{CIRCULANT, DIAGONAL, Matrix};
use contract::{Inputs, Prepared, Result};
use goldilocks::{MODULUS, STATES, permutations};
use p3_field::{
    Algebra, Field, InjectiveMonomial, PackedValue, PrimeCharacteristicRing, PrimeField64,
};
use p3_goldilocks::Goldilocks;
use p3_poseidon1::{
    FullRoundConstants, FullRoundLayer, FullRoundLayerConstructor, PartialRoundConstants,
    PartialRoundLayer, PartialRoundLayerConstructor, Poseidon1ExternalLayerGeneric,
    Poseidon1InternalLayerGeneric, utils,
};
use p3_symmetric::{CryptographicPermutation, Permutation};
use std::hint::black_box;

pub type Packing = <Goldilocks as Field>::Packing;

/// Full rounds before the partial ones, and after.
const HALF_FULL: usize = 4;
const PARTIAL: usize = 22;

type Full = Poseidon1ExternalLayerGeneric<Goldilocks, Matrix, 12>;
type Partial = Poseidon1InternalLayerGeneric<Goldilocks, 12>;

#[derive(Clone)]
pub struct Hermez {
    full: Full,
    partial: Partial,
}

impl Hermez {
    pub fn new() -> Self {
        let constants: Vec<[Goldilocks; 12]> =
            ROUND_CONSTANTS.map(|row| row.map(Goldilocks::new)).to_vec();
        let (initial, rest) = constants.split_at(HALF_FULL);
        let (partial, terminal) = rest.split_at(PARTIAL);
        let mut dense_mds = utils::circulant_to_dense::<Goldilocks, 12>(&CIRCULANT);
        dense_mds[0][0] += Goldilocks::from_u32(DIAGONAL);
        let (first_round_constants, round_constants, m_i, v, sparse_first_row) =
            utils::compute_optimized_constants(&dense_mds, PARTIAL, partial);
        let (textbook_scalar_constants, textbook_residual) =
            utils::forward_constant_substitution(&dense_mds, partial);
        Hermez {
            full: Full::new_from_constants(FullRoundConstants {
                initial: initial.to_vec(),
                terminal: terminal.to_vec(),
                dense_mds,
            }),
            partial: Partial::new_from_constants(PartialRoundConstants {
                first_round_constants,
                m_i,
                sparse_first_row,
                v,
                round_constants,
                textbook_scalar_constants,
                textbook_residual,
            }),
        }
    }
}

impl<A> Permutation<[A; 12]> for Hermez
where
    A: Algebra<Goldilocks> + InjectiveMonomial<7> + Sync,
    Full: FullRoundLayer<A, 12, 7>,
    Partial: PartialRoundLayer<A, 12, 7>,
{
    fn permute_mut(&self, state: &mut [A; 12]) {
        self.full.permute_state_initial(state);
        self.partial.permute_state(state);
        self.full.permute_state_terminal(state);
    }
}

impl<A> CryptographicPermutation<[A; 12]> for Hermez
where
    A: Algebra<Goldilocks> + InjectiveMonomial<7> + Sync,
    Full: FullRoundLayer<A, 12, 7>,
    Partial: PartialRoundLayer<A, 12, 7>,
{
}

/// A packed state whose every lane is one state.
fn packed(state: [u64; 12]) -> [Packing; 12] {
    state.map(|word| Packing::from(Goldilocks::new(word)))
}

/// Every lane of the published permutations, alone and packed.
pub fn check(permutation: &Hermez) -> Result<()> {
    for published in permutations() {
        let single = permutation.permute(published.input.map(Goldilocks::new));
        let lanes = permutation.permute(packed(published.input));
        for (i, want) in published.output.into_iter().enumerate() {
            let got = lanes[i].as_slice().iter().chain([&single[i]]);
            if got.into_iter().any(|e| e.as_canonical_u64() != want) {
                return Err(format!(
                    "the permutation of {:x?} is wrong",
                    published.input
                ));
            }
        }
    }
    Ok(())
}

/// Timed: each packed state replaced by its permutation.
pub fn permutation() -> Result<Prepared> {
    let permutation = Hermez::new();
    check(&permutation)?;
    let mut inputs = Inputs::new(12);
    let mut states: Vec<[Packing; 12]> = (0..STATES / Packing::WIDTH)
        .map(|_| [(); 12].map(|()| Packing::from_fn(|_| Goldilocks::new(inputs.word() % MODULUS))))
        .collect();
    Ok(Prepared {
        op: Box::new(move || {
            for state in &mut states {
                permutation.permute_mut(state);
            }
            black_box(&states);
            Ok(())
        }),
        per_call: STATES as u64,
        extra: vec![(Packing::WIDTH as f64, "lanes")],
    })
}
