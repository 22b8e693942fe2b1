//! From a message to the one last proof: both tables' proofs, verified by a circuit of
//! plonky2, and its proof again by circuits until they no longer get smaller.

use crate::expr::{C, D, F};
use crate::system::{Claim, ProofTargets, System};
use plonky2::iop::witness::{PartialWitness, WitnessWrite};
use plonky2::plonk::circuit_builder::CircuitBuilder;
use plonky2::plonk::circuit_data::{CircuitConfig, CircuitData};
use plonky2::plonk::proof::{ProofWithPublicInputs, ProofWithPublicInputsTarget};

type Circuit = CircuitData<F, C, D>;

/// A circuit that verifies proofs of another one.
struct Layer {
    circuit: Circuit,
    inner: ProofWithPublicInputsTarget<D>,
}

pub struct Aggregate {
    system: System,
    first: Circuit,
    targets: ProofTargets,
    layers: Vec<Layer>,
}

fn config() -> CircuitConfig {
    CircuitConfig::standard_recursion_config()
}

impl Layer {
    fn new(inner: &Circuit) -> Self {
        let mut builder = CircuitBuilder::<F, D>::new(config());
        let proof = builder.add_virtual_proof_with_pis(&inner.common);
        let verifier = builder.constant_verifier_data(&inner.verifier_only);
        builder.verify_proof::<C>(&proof, &verifier, &inner.common);
        builder.register_public_inputs(&proof.public_inputs);
        Layer {
            circuit: builder.build(),
            inner: proof,
        }
    }
}

impl Aggregate {
    pub fn new(system: System) -> Self {
        let mut builder = CircuitBuilder::<F, D>::new(config());
        let targets = system.verify_in(&mut builder);
        let mut aggregate = Aggregate {
            system,
            first: builder.build(),
            targets,
            layers: vec![],
        };
        loop {
            let last = aggregate.last();
            let layer = Layer::new(last);
            if layer.circuit.common.degree_bits() >= last.common.degree_bits() {
                return aggregate;
            }
            aggregate.layers.push(layer);
        }
    }

    fn last(&self) -> &Circuit {
        self.layers
            .last()
            .map_or(&self.first, |layer| &layer.circuit)
    }

    /// The encoding of a proof of what is true of the message.
    pub fn prove(&self, message: &[u8]) -> anyhow::Result<(Claim, Vec<u8>)> {
        let (claim, proofs) = self.system.prove(message)?;
        let mut witness = PartialWitness::new();
        self.targets
            .set(&self.system, &claim, &proofs, &mut witness)?;
        let mut proof = self.first.prove(witness)?;
        for layer in &self.layers {
            let mut witness = PartialWitness::new();
            witness.set_proof_with_pis_target(&layer.inner, &proof)?;
            proof = layer.circuit.prove(witness)?;
        }
        Ok((claim, proof.to_bytes()))
    }

    /// Whether the proof is of this claim, whatever it says that it is of.
    pub fn verify(&self, claim: &Claim, proof: &[u8]) -> anyhow::Result<()> {
        let last = self.last();
        let mut proof: ProofWithPublicInputs<F, C, D> =
            ProofWithPublicInputs::from_bytes(proof.to_vec(), &last.common)?;
        proof.public_inputs = claim.elements().to_vec();
        last.verify(proof)
    }
}
