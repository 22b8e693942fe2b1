//! One text of constraints for both of starky's evaluators: over packed elements, and
//! over targets of a circuit.

use plonky2::field::extension::FieldExtension;
use plonky2::field::goldilocks_field::GoldilocksField;
use plonky2::field::packed::PackedField;
use plonky2::field::types::Field;
use plonky2::iop::ext_target::ExtensionTarget;
use plonky2::plonk::circuit_builder::CircuitBuilder;
use plonky2::plonk::config::PoseidonGoldilocksConfig;
use starky::constraint_consumer::{ConstraintConsumer, RecursiveConstraintConsumer};

pub type F = GoldilocksField;
pub type C = PoseidonGoldilocksConfig;
/// Degree of the extension that points are drawn from.
pub const D: usize = 2;

/// Where a constraint holds.
#[derive(Clone, Copy)]
pub enum Rows {
    All,
    First,
    Last,
    ButLast,
}

/// Arithmetic over the values of a row. `fma` is what a circuit has gates for, so that
/// each is one operation there; its factors are small or powers of two.
pub trait Eval {
    type E: Copy;
    fn constant(&mut self, value: u64) -> Self::E;
    /// p x y + q z
    fn fma(&mut self, p: i64, x: Self::E, y: Self::E, q: i64, z: Self::E) -> Self::E;
    fn zero(&mut self, rows: Rows, value: Self::E);

    fn mul(&mut self, x: Self::E, y: Self::E) -> Self::E {
        let zero = self.constant(0);
        self.fma(1, x, y, 0, zero)
    }

    /// p x + q z
    fn sum(&mut self, p: i64, x: Self::E, q: i64, z: Self::E) -> Self::E {
        let one = self.constant(1);
        self.fma(p, x, one, q, z)
    }

    fn sub(&mut self, x: Self::E, z: Self::E) -> Self::E {
        self.sum(1, x, -1, z)
    }

    fn total(&mut self, values: impl IntoIterator<Item = Self::E>) -> Self::E {
        let zero = self.constant(0);
        values
            .into_iter()
            .fold(zero, |sum, v| self.sum(1, v, 1, sum))
    }

    /// The bits, the lowest one first.
    fn number(&mut self, bits: &[Self::E]) -> Self::E {
        let zero = self.constant(0);
        bits.iter()
            .rev()
            .fold(zero, |sum, &b| self.sum(1, b, 2, sum))
    }

    /// 1 - 2 b: the exclusive or of bits is the product of their signs.
    fn sign(&mut self, bit: Self::E) -> Self::E {
        let one = self.constant(1);
        self.sum(-2, bit, 1, one)
    }

    fn bit(&mut self, value: Self::E) {
        let not = self.fma(1, value, value, -1, value);
        self.zero(Rows::All, not);
    }
}

pub struct Values<'a, P: PackedField>(pub &'a mut ConstraintConsumer<P>);

#[inline(always)]
fn times<P: PackedField>(value: P, factor: i64) -> P {
    match factor {
        0 => P::ZEROS,
        1 => value,
        -1 => -value,
        2 => value.doubles(),
        -2 => -value.doubles(),
        f if f < 0 => -(value * P::Scalar::from_canonical_u64(f.unsigned_abs())),
        f => value * P::Scalar::from_canonical_u64(f as u64),
    }
}

impl<P: PackedField> Eval for Values<'_, P> {
    type E = P;

    #[inline(always)]
    fn constant(&mut self, value: u64) -> P {
        P::from(P::Scalar::from_canonical_u64(value))
    }

    #[inline(always)]
    fn fma(&mut self, p: i64, x: P, y: P, q: i64, z: P) -> P {
        times(x * y, p) + times(z, q)
    }

    #[inline(always)]
    fn mul(&mut self, x: P, y: P) -> P {
        x * y
    }

    #[inline(always)]
    fn sum(&mut self, p: i64, x: P, q: i64, z: P) -> P {
        times(x, p) + times(z, q)
    }

    #[inline(always)]
    fn zero(&mut self, rows: Rows, value: P) {
        match rows {
            Rows::All => self.0.constraint(value),
            Rows::First => self.0.constraint_first_row(value),
            Rows::Last => self.0.constraint_last_row(value),
            Rows::ButLast => self.0.constraint_transition(value),
        }
    }
}

/// Public inputs as elements of a row.
pub fn packed<FE, P, const D2: usize>(inputs: &[FE]) -> Vec<P>
where
    FE: FieldExtension<D2, BaseField = F>,
    P: PackedField<Scalar = FE>,
{
    inputs.iter().map(|&v| P::from(v)).collect()
}

pub struct Targets<'a> {
    pub builder: &'a mut CircuitBuilder<F, D>,
    pub consumer: &'a mut RecursiveConstraintConsumer<F, D>,
}

fn factor(value: i64) -> F {
    F::from_noncanonical_i64(value)
}

impl Eval for Targets<'_> {
    type E = ExtensionTarget<D>;

    fn constant(&mut self, value: u64) -> Self::E {
        let value = F::from_canonical_u64(value);
        self.builder.constant_extension(value.into())
    }

    fn fma(&mut self, p: i64, x: Self::E, y: Self::E, q: i64, z: Self::E) -> Self::E {
        self.builder
            .arithmetic_extension(factor(p), factor(q), x, y, z)
    }

    fn zero(&mut self, rows: Rows, value: Self::E) {
        let (builder, consumer) = (&mut *self.builder, &mut *self.consumer);
        match rows {
            Rows::All => consumer.constraint(builder, value),
            Rows::First => consumer.constraint_first_row(builder, value),
            Rows::Last => consumer.constraint_last_row(builder, value),
            Rows::ButLast => consumer.constraint_transition(builder, value),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use plonky2::field::polynomial::PolynomialValues;
    use starky::evaluation_frame::StarkEvaluationFrame;
    use starky::stark::Stark;

    /// Whether a table's own constraints hold of all its rows.
    pub fn holds<S: Stark<F, D>>(stark: &S, trace: &[PolynomialValues<F>], public: &[F]) -> bool {
        let rows = trace[0].len();
        let values =
            |row: usize| -> Vec<F> { trace.iter().map(|c| c.values[row % rows]).collect() };
        let alpha = F::from_canonical_u64(0x9e37_79b9_7f4a_7c15);
        (0..rows).all(|row| {
            let frame = S::EvaluationFrame::from_values(&values(row), &values(row + 1), public);
            let mut consumer = ConstraintConsumer::<F>::new(
                vec![alpha],
                F::from_bool(row + 1 < rows),
                F::from_bool(row == 0),
                F::from_bool(row + 1 == rows),
            );
            stark.eval_packed_base(&frame, &mut consumer);
            consumer.accumulators()[0].is_zero()
        })
    }
}
