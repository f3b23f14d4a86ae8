//! Coordinate descent on small quadratic functions, min ½xᵀGx − cᵀx over x ≥ 0 with one G of a few dozen variables and many c:
//! four of them at a time, one in each lane of a vector. The coordinates of one depend on each other, those of four do not.

use super::dense::wide;

/// Problems that are solved at a time.
pub const TOGETHER: usize = 4;

/// One number of each.
pub type Lanes = [f64; TOGETHER];

/// G, and what sweeps need of it.
pub struct Quadratic {
    /// Column after column.
    columns: Vec<f64>,
    diagonal: Vec<f64>,
    /// 1/Gⱼⱼ, or zero.
    inverse: Vec<f64>,
}

impl Quadratic {
    /// G + shift·I, of `len`² numbers.
    pub fn new(gram: &[f64], len: usize, shift: f64) -> Self {
        assert_eq!(gram.len(), len * len);
        let mut columns = gram.to_vec();
        columns.iter_mut().step_by(len + 1).for_each(|diagonal| *diagonal += shift);
        let diagonal: Vec<f64> = columns.iter().step_by(len + 1).copied().collect();
        let invert = |d: &f64| if *d > 0.0 && (1.0 / d).is_finite() { 1.0 / d } else { 0.0 };
        let inverse = diagonal.iter().map(invert).collect();
        Self { columns, diagonal, inverse }
    }

    /// gradient += G:ⱼ step.
    #[inline(always)]
    fn add(&self, j: usize, step: Lanes, gradient: &mut [Lanes]) {
        let len = self.diagonal.len();
        // Four entries at a time: otherwise the compiler puts entries into vectors instead of problems, and shuffles all of them.
        // Loops, no closures: those may end up outside of what is compiled for AVX2.
        let (head, tail) = self.columns[j * len..][..len].as_chunks::<4>();
        let (head_gradient, tail_gradient) = gradient.as_chunks_mut::<4>();
        for (gradient, column) in head_gradient.iter_mut().zip(head) {
            for i in 0..4 {
                add_lanes(column[i], step, &mut gradient[i]);
            }
        }
        for (gradient, &entry) in tail_gradient.iter_mut().zip(tail) {
            add_lanes(entry, step, gradient);
        }
    }
}

#[inline(always)]
fn add_lanes(entry: f64, step: Lanes, to: &mut Lanes) {
    for lane in 0..TOGETHER {
        to[lane] += entry * step[lane];
    }
}

wide! {
    /// Adds Gx to what is there.
    fn add_gradient(quadratic: &Quadratic, x: &[Lanes], gradient: &mut [Lanes]) {
        for (j, &x) in x.iter().enumerate() {
            if x != [0.0; TOGETHER] {
                quadratic.add(j, x, gradient);
            }
        }
    }

    /// Each coordinate to its minimiser in turn, the gradient kept; returns Σ Gⱼⱼdⱼ² over all steps d.
    fn coordinate_sweep(quadratic: &Quadratic, x: &mut [Lanes], gradient: &mut [Lanes]) -> f64 {
        let mut moved = [0.0; TOGETHER];
        for (j, x) in x.iter_mut().enumerate() {
            let (slope, inverse, diagonal) = (gradient[j], quadratic.inverse[j], quadratic.diagonal[j]);
            let mut step = [0.0; TOGETHER];
            for lane in 0..TOGETHER {
                let next = (x[lane] - slope[lane] * inverse).max(0.0);
                step[lane] = next - x[lane];
                x[lane] = next;
                moved[lane] += diagonal * step[lane] * step[lane];
            }
            // Many entries are zero and stay there.
            if step != [0.0; TOGETHER] {
                quadratic.add(j, step, gradient);
            }
        }
        (moved[0] + moved[2]) + (moved[1] + moved[3])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::numbers;
    use super::*;

    /// One problem after the other, with every access checked.
    #[test]
    fn sweeps_match_plain_loops_bit_for_bit() {
        for len in [1, 3, 4, 5, 8, 49] {
            let rows: Vec<Vec<f64>> = (0..len).map(|j| numbers(len + 2, 5 + j as u64)).collect();
            let product = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum::<f64>();
            let gram: Vec<f64> = (0..len * len).map(|k| product(k % len, k / len)).collect();
            let quadratic = Quadratic::new(&gram, len, 0.125);
            let entry = |i: usize, j: usize| gram[j * len + i] + if i == j { 0.125 } else { 0.0 };

            let lanes = |seed: u64| numbers(len * TOGETHER, seed).as_chunks::<TOGETHER>().0.to_vec();
            let mut x: Vec<Lanes> = lanes(4).into_iter().map(|x| x.map(|v| v.max(0.0))).collect();
            let mut gradient = lanes(77);
            let (mut slow, mut plain) = (x.clone(), gradient.clone());
            add_gradient(&quadratic, &x, &mut gradient);
            for j in 0..len {
                (0..len).for_each(|i| (0..TOGETHER).for_each(|lane| plain[i][lane] += entry(i, j) * slow[j][lane]));
            }
            assert_eq!(gradient, plain);

            for _ in 0..3 {
                let mut moved = [0.0; TOGETHER];
                for lane in 0..TOGETHER {
                    for j in 0..len {
                        let next = (slow[j][lane] - plain[j][lane] * (1.0 / entry(j, j))).max(0.0);
                        let step = next - slow[j][lane];
                        slow[j][lane] = next;
                        moved[lane] += entry(j, j) * step * step;
                        (0..len).for_each(|i| plain[i][lane] += entry(i, j) * step);
                    }
                }
                let total = (moved[0] + moved[2]) + (moved[1] + moved[3]);
                assert_eq!(coordinate_sweep(&quadratic, &mut x, &mut gradient), total);
                assert_eq!((&x, &gradient), (&slow, &plain));
            }
        }
    }

    #[test]
    fn a_variable_without_curvature_stays() {
        let quadratic = Quadratic::new(&[0.0, 0.0, 0.0, 2.0], 2, 0.0);
        let (mut x, mut gradient) = ([[3.0; TOGETHER], [0.0; TOGETHER]], [[-1.0; TOGETHER], [-4.0; TOGETHER]]);
        add_gradient(&quadratic, &x, &mut gradient);
        coordinate_sweep(&quadratic, &mut x, &mut gradient);
        assert_eq!(x, [[3.0; TOGETHER], [2.0; TOGETHER]]);
    }
}
