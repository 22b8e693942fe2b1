//! Arithmetic by definition, to check fast results with.

/// 2^64 - 2^32 + 1.
pub const MODULUS: u64 = 0xffff_ffff_0000_0001;

/// A root of unity of order 2^32, the one that plonky2 and Plonky3 define their
/// transforms by: 7^((p-1)/2^32).
const ROOT: u64 = 1_753_635_133_440_165_772;

pub fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64
}

pub fn power(base: u64, exponent: u64) -> u64 {
    let mut result = 1;
    for i in (0..64).rev() {
        result = multiply(result, result);
        if exponent >> i & 1 == 1 {
            result = multiply(result, base);
        }
    }
    result
}

/// The value of the polynomial at `shift` times the `index`-th power of the root of
/// order 2^`log`, by Horner's rule.
pub fn value_at(coefficients: &[u64], shift: u64, log: usize, index: usize) -> u64 {
    let root = power(ROOT, 1 << (32 - log));
    let x = multiply(shift, power(root, index as u64));
    coefficients.iter().rev().fold(0, |sum, &c| {
        // At most (p-1)^2 + p-1, below 2^128.
        ((u128::from(sum) * u128::from(x) + u128::from(c)) % u128::from(MODULUS)) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_a_power_of_the_generator() {
        assert_eq!(power(7, (MODULUS - 1) >> 32), ROOT);
        assert_eq!(power(ROOT, 1 << 31), MODULUS - 1);
    }

    #[test]
    fn values_of_a_line() {
        // 3 + 5 X at 2 and at -2.
        assert_eq!(value_at(&[3, 5], 2, 1, 0), 13);
        assert_eq!(value_at(&[3, 5], 2, 1, 1), MODULUS - 7);
    }
}
