//! The triangle of a matrix with many more rows than columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Mat, Par};

/// R and Qᵀb for A = QR, without Q: ‖Ax − b‖² = ‖Rx − Qᵀb‖² + constant.
pub struct Triangle {
    /// Column after column, with the zeros below the diagonal.
    pub r: Vec<f64>,
    /// Qᵀb.
    pub projection: Vec<f64>,
}

impl Triangle {
    /// Multiply-adds that [`Triangle::new`] takes.
    pub fn work(rows: usize, cols: usize) -> u64 {
        rows as u64 * (cols as u64).pow(2)
    }

    /// By Householder reflections of A and b side by side, A with at least as many rows as columns. `write(j, out)` writes a
    /// column.
    pub fn new(cols: usize, b: &[f64], write: impl Fn(usize, &mut [f64])) -> Self {
        let mut columns = Mat::zeros(b.len(), cols + 1);
        for j in 0..cols {
            write(j, columns.col_as_slice_mut(j));
        }
        columns.col_as_slice_mut(cols).copy_from_slice(b);
        let block = recommended_block_size::<f64>(b.len(), cols + 1);
        let mut coefficients = Mat::zeros(block, (cols + 1).min(b.len()));
        let room = qr_in_place_scratch::<f64>(b.len(), cols + 1, block, Par::Seq, Default::default());
        let mut room = MemBuffer::new(room);
        qr_in_place(columns.as_mut(), coefficients.as_mut(), Par::Seq, MemStack::new(&mut room), Default::default());
        // R is where the columns were; what made it is below.
        let upper = |j: usize| (0..cols).map(move |i| (i, j));
        let entry = |(i, j)| if i <= j { columns[(i, j)] } else { 0.0 };
        Self { r: (0..cols).flat_map(upper).map(entry).collect(), projection: upper(cols).map(entry).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::kernels::dense_dot;
    use crate::testing::Random;

    /// RᵀR = AᵀA, RᵀQᵀb = Aᵀb, zeros below the diagonal.
    #[test]
    fn a_triangle_has_the_products_of_its_matrix() {
        let mut random = Random::new(7);
        for (m, n) in [(1, 1), (3, 2), (9, 4), (40, 5), (255, 7), (256, 8), (257, 9), (1000, 13), (5, 0)] {
            let mut columns: Vec<Vec<f64>> = (0..n).map(|_| (0..m).map(|_| random.unit() - 0.3).collect()).collect();
            if n > 4 {
                columns[3] = columns[0].clone();
                columns[4].fill(0.0);
                columns[2].iter_mut().skip(1).for_each(|v| *v *= 1e-160);
            }
            let b: Vec<f64> = (0..m).map(|_| random.unit()).collect();
            let triangle = Triangle::new(n, &b, |j, out| out.copy_from_slice(&columns[j]));
            let column = |j: usize| &triangle.r[j * n..(j + 1) * n];
            for j in 0..n {
                assert!(column(j)[j + 1..].iter().all(|&v| v == 0.0));
                for k in 0..=j {
                    let (got, wanted) = (dense_dot(column(j), column(k)), dense_dot(&columns[j], &columns[k]));
                    assert!((got - wanted).abs() < 1e-12 * (1.0 + m as f64), "{m} × {n}: {got} {wanted}");
                }
                let (got, wanted) = (dense_dot(column(j), &triangle.projection), dense_dot(&columns[j], &b));
                assert!((got - wanted).abs() < 1e-12 * (1.0 + m as f64));
            }
        }
    }
}
