//! The systems that are measured: those of Plonky3's own examples of this table, with
//! as many queries as ours and challenges from extensions of the same degrees.

use p3_challenger::{
    DuplexChallenger, HashChallenger, SerializingChallenger32, SerializingChallenger64,
};
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::extension::BinomialExtensionField;
use p3_field::{Field, TwoAdicField};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_goldilocks::{Goldilocks, Poseidon2Goldilocks, default_goldilocks_poseidon2_12};
use p3_keccak::{Keccak256Hash, KeccakF, VECTOR_LEN};
use p3_koala_bear::KoalaBear;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, PaddingFreeSponge, SerializingHasher, TruncatedPermutation,
};
use p3_uni_stark::StarkConfig;

/// The rate is 2^-LOG_BLOWUP.
pub const LOG_BLOWUP: usize = 1;

/// Challenges are from an extension of degree D. Of Plonky3's transforms this is the
/// fastest of these columns, or as fast as others, and takes the least memory.
pub type Config<F, const D: usize, Trees, Challenger> = StarkConfig<
    TwoAdicFriPcs<
        F,
        Radix2DitParallel<F>,
        Trees,
        ExtensionMmcs<F, BinomialExtensionField<F, D>, Trees>,
    >,
    BinomialExtensionField<F, D>,
    Challenger,
>;

/// The parameters are Plonky3's for benchmarks but for the queries, which are 100 there.
/// They fold two points into one; eight at a time take as long.
fn config<F: TwoAdicField, const D: usize, Trees: Clone, Challenger: Clone>(
    trees: Trees,
    challenger: Challenger,
) -> Config<F, D, Trees, Challenger>
where
    BinomialExtensionField<F, D>: Clone,
{
    let fri = FriParameters {
        log_blowup: LOG_BLOWUP,
        num_queries: 84,
        query_proof_of_work_bits: 16,
        ..FriParameters::new_benchmark(ExtensionMmcs::new(trees.clone()))
    };
    StarkConfig::new(
        TwoAdicFriPcs::new(Radix2DitParallel::default(), trees, fri),
        challenger,
    )
}

type Sponge = PaddingFreeSponge<KeccakF, 25, 17, 4>;

/// Trees of Keccak, of as many leaves at a time as a vector has lanes.
type KeccakTrees<F> = MerkleTreeMmcs<
    [F; VECTOR_LEN],
    [u64; VECTOR_LEN],
    SerializingHasher<Sponge>,
    CompressionFunctionFromHasher<Sponge, 2, 4>,
    2,
    4,
>;

fn keccak_trees<F>() -> KeccakTrees<F> {
    let sponge = Sponge::new(KeccakF {});
    KeccakTrees::new(
        SerializingHasher::new(sponge),
        CompressionFunctionFromHasher::new(sponge),
        3,
    )
}

type Bytes = HashChallenger<u8, Keccak256Hash, 32>;

pub fn koalabear_keccak()
-> Config<KoalaBear, 4, KeccakTrees<KoalaBear>, SerializingChallenger32<KoalaBear, Bytes>> {
    let challenger = SerializingChallenger32::from_hasher(vec![], Keccak256Hash {});
    config(keccak_trees(), challenger)
}

pub fn goldilocks_keccak()
-> Config<Goldilocks, 2, KeccakTrees<Goldilocks>, SerializingChallenger64<Goldilocks, Bytes>> {
    let challenger = SerializingChallenger64::from_hasher(vec![], Keccak256Hash {});
    config(keccak_trees(), challenger)
}

type Packing = <Goldilocks as Field>::Packing;
type Poseidon2 = Poseidon2Goldilocks<12>;
type Poseidon2Trees = MerkleTreeMmcs<
    Packing,
    Packing,
    PaddingFreeSponge<Poseidon2, 12, 8, 4>,
    TruncatedPermutation<Poseidon2, 2, 4, 12>,
    2,
    4,
>;

/// Plonky3's example has permutations of width 8, which take a fifth longer.
pub fn goldilocks_poseidon2()
-> Config<Goldilocks, 2, Poseidon2Trees, DuplexChallenger<Goldilocks, Poseidon2, 12, 8>> {
    let permutation = default_goldilocks_poseidon2_12();
    let trees = Poseidon2Trees::new(
        PaddingFreeSponge::new(permutation.clone()),
        TruncatedPermutation::new(permutation.clone()),
        0,
    );
    config(trees, DuplexChallenger::new(permutation))
}
