//! Both tables, linked, with one transcript: of the prover and of the circuit that
//! verifies. All caps are in it before any challenge.

use crate::expr::{C, D, F};
use crate::keccak::{Block, absorb, digest, pad};
use crate::permutations::{self, Permutations};
use crate::sponge::{self, PUBLIC, Sponge};
use plonky2::field::polynomial::PolynomialValues;
use plonky2::field::types::Field;
use plonky2::fri::oracle::PolynomialBatch;
use plonky2::iop::challenger::{Challenger, RecursiveChallenger};
use plonky2::iop::target::Target;
use plonky2::iop::witness::{PartialWitness, WitnessWrite};
use plonky2::plonk::circuit_builder::CircuitBuilder;
use plonky2::plonk::config::GenericConfig;
use plonky2::util::log2_strict;
use plonky2::util::timing::TimingTree;
use starky::config::StarkConfig;
use starky::cross_table_lookup::{
    CrossTableLookup, CtlCheckVarsTarget, CtlData, TableWithColumns, get_ctl_data,
    verify_cross_table_lookups_circuit,
};
use starky::lookup::{GrandProductChallengeSet, get_grand_product_challenge_set_target};
use starky::proof::{StarkProof, StarkProofTarget};
use starky::prover::prove_with_commitment;
use starky::recursive_verifier::{
    add_virtual_stark_proof, set_stark_proof_target, verify_stark_proof_with_challenges_circuit,
};
use starky::stark::Stark;

type Hash = <C as GenericConfig<D>>::Hasher;
type Proof = StarkProof<F, C, D>;

const PERMUTATIONS: usize = 0;
const SPONGE: usize = 1;
const TABLES: usize = 2;
const KECCAK: Permutations = Permutations { linked: true };

/// What is proved to be true of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub digest: [u32; 8],
    pub length: usize,
}

impl Claim {
    pub fn elements(&self) -> [F; PUBLIC] {
        let mut elements = [F::from_canonical_usize(self.length); PUBLIC];
        for (element, word) in elements.iter_mut().zip(self.digest) {
            *element = F::from_canonical_u32(word);
        }
        elements
    }
}

/// The first and the last state of permutation i are those of row i of the sponge.
fn links() -> Vec<CrossTableLookup<F>> {
    let inputs = CrossTableLookup::new(
        vec![TableWithColumns::new(
            SPONGE,
            sponge::inputs(),
            sponge::filter(),
        )],
        TableWithColumns::new(
            PERMUTATIONS,
            permutations::inputs(),
            permutations::inputs_filter(),
        ),
    );
    let outputs = CrossTableLookup::new(
        vec![TableWithColumns::new(
            SPONGE,
            sponge::outputs(),
            sponge::filter(),
        )],
        TableWithColumns::new(
            PERMUTATIONS,
            permutations::outputs(),
            permutations::outputs_filter(),
        ),
    );
    vec![inputs, outputs]
}

/// The tables of messages of one number of blocks.
pub struct System {
    pub config: StarkConfig,
    links: Vec<CrossTableLookup<F>>,
    bits: [usize; TABLES],
}

pub struct Proofs([Proof; TABLES]);

/// Where a circuit has them.
pub struct ProofTargets {
    tables: [StarkProofTarget<D>; TABLES],
    public: Vec<Target>,
    zero: Target,
}

impl System {
    pub fn new(config: StarkConfig, blocks: usize) -> Self {
        let rows = [permutations::rows(blocks), sponge::rows(blocks)];
        System {
            config,
            links: links(),
            bits: rows.map(log2_strict),
        }
    }

    pub fn prove(&self, message: &[u8]) -> anyhow::Result<(Claim, Proofs)> {
        let blocks: Vec<Block> = absorb(&pad(message));
        let claim = Claim {
            digest: digest(&blocks),
            length: message.len(),
        };
        let inputs: Vec<_> = blocks.iter().map(|block| block.input).collect();
        let traces = [
            permutations::trace(&inputs),
            sponge::trace(&blocks, message.len()),
        ];
        let fri = &self.config.fri_config;
        let mut timing = TimingTree::default();
        let batches = traces.each_ref().map(|trace| {
            PolynomialBatch::<F, C, D>::from_values(
                trace.clone(),
                fri.rate_bits,
                false,
                fri.cap_height,
                &mut timing,
                None,
            )
        });
        let mut challenger = Challenger::<F, Hash>::new();
        challenger.observe_elements(&claim.elements());
        for batch in &batches {
            challenger.observe_cap(&batch.merkle_tree.cap);
        }
        let (challenges, links) =
            get_ctl_data::<F, C, D, TABLES>(&self.config, &traces, &self.links, &mut challenger, 3);
        let mut table = Table {
            config: &self.config,
            challenges: &challenges,
            challenger,
        };
        let permutations = table.prove(
            &KECCAK,
            &traces[PERMUTATIONS],
            &batches[PERMUTATIONS],
            &links[PERMUTATIONS],
            &[],
        )?;
        let sponge = table.prove(
            &Sponge,
            &traces[SPONGE],
            &batches[SPONGE],
            &links[SPONGE],
            &claim.elements(),
        )?;
        Ok((claim, Proofs([permutations, sponge])))
    }

    /// Adds to a circuit what verifies proofs, of which the claim is public.
    pub fn verify_in(&self, builder: &mut CircuitBuilder<F, D>) -> ProofTargets {
        let public = builder.add_virtual_targets(PUBLIC);
        builder.register_public_inputs(&public);
        let tables = [
            self.add_proof(builder, &KECCAK, PERMUTATIONS),
            self.add_proof(builder, &Sponge, SPONGE),
        ];
        let mut challenger = RecursiveChallenger::<F, Hash, D>::new(builder);
        challenger.observe_elements(&public);
        for proof in &tables {
            challenger.observe_cap(&proof.trace_cap);
        }
        let challenges = get_grand_product_challenge_set_target(
            builder,
            &mut challenger,
            self.config.num_challenges,
        );
        let mut table = TableTargets {
            system: self,
            challenges,
            challenger,
        };
        table.verify(builder, &KECCAK, PERMUTATIONS, &tables[PERMUTATIONS], &[]);
        table.verify(builder, &Sponge, SPONGE, &tables[SPONGE], &public);
        let sums = tables
            .each_ref()
            .map(|proof| proof.openings.ctl_zs_first.clone().expect("a linked table"));
        // Nothing but the tables looks. A sum that is missing is not zero there, but the
        // circuit's first target.
        let zero = builder.zero();
        let others = (0..self.links.len())
            .map(|link| (link, vec![zero; self.config.num_challenges]))
            .collect();
        verify_cross_table_lookups_circuit::<F, D, TABLES>(
            builder,
            self.links.clone(),
            sums,
            &others,
            &self.config,
        );
        ProofTargets {
            tables,
            public,
            zero,
        }
    }

    fn add_proof<S: Stark<F, D>>(
        &self,
        builder: &mut CircuitBuilder<F, D>,
        stark: &S,
        table: usize,
    ) -> StarkProofTarget<D> {
        let (helpers, sums, _) = self.helpers(stark, table);
        let proof = add_virtual_stark_proof(
            builder,
            stark,
            &self.config,
            self.bits[table],
            helpers + sums,
            sums,
        );
        // The height is a witness there; here it is the circuit's.
        let bits = builder.constant(F::from_canonical_usize(self.bits[table]));
        builder.connect(proof.degree_bits, bits);
        proof
    }

    fn helpers<S: Stark<F, D>>(&self, stark: &S, table: usize) -> (usize, usize, Vec<usize>) {
        CrossTableLookup::num_ctl_helpers_zs_all(
            &self.links,
            table,
            self.config.num_challenges,
            stark.constraint_degree(),
        )
    }
}

/// What tables share when they are proved one after the other.
struct Table<'a> {
    config: &'a StarkConfig,
    challenges: &'a GrandProductChallengeSet<F>,
    challenger: Challenger<F, Hash>,
}

impl Table<'_> {
    fn prove<S: Stark<F, D>>(
        &mut self,
        stark: &S,
        trace: &[PolynomialValues<F>],
        batch: &PolynomialBatch<F, C, D>,
        links: &CtlData<F>,
        public: &[F],
    ) -> anyhow::Result<Proof> {
        self.config.observe(&mut self.challenger);
        let proof = prove_with_commitment(
            stark,
            self.config,
            trace,
            batch,
            Some(links),
            Some(self.challenges),
            &mut self.challenger,
            public,
            None,
            None,
            &mut TimingTree::default(),
        )?;
        Ok(proof.proof)
    }
}

struct TableTargets<'a> {
    system: &'a System,
    challenges: GrandProductChallengeSet<Target>,
    challenger: RecursiveChallenger<F, Hash, D>,
}

impl TableTargets<'_> {
    fn verify<S: Stark<F, D>>(
        &mut self,
        builder: &mut CircuitBuilder<F, D>,
        stark: &S,
        table: usize,
        proof: &StarkProofTarget<D>,
        public: &[Target],
    ) {
        let System {
            config,
            links,
            bits,
        } = self.system;
        let (helpers, _, helpers_by_link) = self.system.helpers(stark, table);
        let vars = CtlCheckVarsTarget::from_proof(
            table,
            proof,
            links,
            &self.challenges,
            stark.num_lookup_helper_columns(config),
            helpers,
            &helpers_by_link,
        );
        let challenges = proof.get_challenges::<F, C, S>(
            builder,
            stark,
            public,
            &mut self.challenger,
            Some(&self.challenges),
            Some(&vars),
            bits[table],
            true,
            config,
        );
        verify_stark_proof_with_challenges_circuit::<F, C, S, D>(
            builder,
            stark,
            proof,
            public,
            challenges,
            Some(&vars),
            config,
            bits[table],
            None,
        );
    }
}

impl ProofTargets {
    pub fn set(
        &self,
        system: &System,
        claim: &Claim,
        proofs: &Proofs,
        witness: &mut PartialWitness<F>,
    ) -> anyhow::Result<()> {
        for (&target, element) in self.public.iter().zip(claim.elements()) {
            witness.set_target(target, element)?;
        }
        for (table, (target, proof)) in self.tables.iter().zip(&proofs.0).enumerate() {
            set_stark_proof_target(witness, target, proof, system.bits[table], self.zero)?;
        }
        Ok(())
    }
}
