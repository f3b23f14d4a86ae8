//! Blocked dense kernels over fixed tiles.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Side of a tile, the unit of parallel work.
const TILE: usize = 256;

/// Columns that are factored together before the rest of the matrix hears of them.
const PANEL: usize = 128;

/// Multiply-adds that are worth waking another thread for.
const PARALLEL_WORK: usize = 1 << 20;

/// Does `job` on every tile, in parallel if it is worth it; tiles are independent, so the order does not matter.
fn on_tiles<T: Send>(tiles: Vec<T>, work: usize, job: impl Fn(T) + Sync + Send) {
    if work >= PARALLEL_WORK && tiles.len() > 1 && rayon::current_num_threads() > 1 {
        tiles.into_par_iter().for_each(job);
    } else {
        tiles.into_iter().for_each(job);
    }
}

/// The rows in strips of [`TILE`].
fn strips(matrix: MatMut<'_, f64>) -> Vec<MatMut<'_, f64>> {
    let mut strips = Vec::new();
    let mut rest = matrix;
    while rest.nrows() > 0 {
        let height = TILE.min(rest.nrows());
        let (strip, below) = rest.split_at_row_mut(height);
        strips.push(strip);
        rest = below;
    }
    strips
}

/// C += ±RRᵀ on the tiles that meet the lower triangle of C (what lies above it is not meaningful afterwards). The first
/// k rows of R are zero beyond column `reach(k)`.
pub fn add_square(target: MatMut<'_, f64>, sign: f64, rows: MatRef<'_, f64>, reach: impl Fn(usize) -> usize + Sync + Send) {
    let (size, depth) = (target.nrows(), rows.ncols());
    if depth == 0 {
        return;
    }
    let mut tiles = Vec::new();
    let (mut rest, mut start) = (target, 0);
    while start < size {
        let width = TILE.min(size - start);
        let (columns, right) = rest.split_at_col_mut(width);
        let (_, lower) = columns.split_at_row_mut(start);
        tiles.extend(strips(lower).into_iter().enumerate().map(|(i, tile)| (start + i * TILE, start, tile)));
        (rest, start) = (right, start + width);
    }
    on_tiles(tiles, size * size / 2 * depth, |(row, column, tile)| {
        let depth = reach(column + tile.ncols());
        let left = rows.submatrix(row, 0, tile.nrows(), depth);
        let right = rows.submatrix(column, 0, tile.ncols(), depth);
        matmul(tile, Accum::Add, left, right.transpose(), sign, Par::Seq);
    });
}

/// R ← RL⁻ᵀ.
pub fn solve_rows(lower: MatRef<'_, f64>, rows: MatMut<'_, f64>) {
    let work = rows.nrows() * lower.nrows() * lower.nrows() / 2;
    on_tiles(strips(rows), work, |strip| solve_lower_triangular_in_place(lower, strip.transpose_mut(), Par::Seq));
}

/// Replaces the lower triangle of G by L with LLᵀ = G. Stops at the first pivot that is not greater than `least` there
/// and returns its place: L is finished in the rows before it.
pub fn factor(mut matrix: MatMut<'_, f64>, least: impl Fn(usize) -> f64) -> Result<(), usize> {
    let size = matrix.nrows();
    for start in (0..size).step_by(PANEL) {
        let width = PANEL.min(size - start);
        let (_, _, _, trailing) = matrix.as_mut().split_at_mut(start, start);
        let (diagonal, _, mut below, rest) = trailing.split_at_mut(width, width);
        let diagonal = factor_small(diagonal, |j| least(start + j)).map_err(|j| start + j)?;
        solve_rows(diagonal.as_ref(), below.as_mut());
        add_square(rest, -1.0, below.as_ref(), |_| width);
    }
    Ok(())
}

/// [`factor`] of one panel's square, in a copy that fits the cache.
fn factor_small<'a>(mut matrix: MatMut<'a, f64>, least: impl Fn(usize) -> f64) -> Result<MatMut<'a, f64>, usize> {
    let size = matrix.nrows();
    let mut copy = vec![0.0; size * size];
    for j in 0..size {
        for i in j..size {
            copy[j * size + i] = matrix[(i, j)];
        }
    }
    let mut failed = None;
    for j in 0..size {
        let (head, later) = copy.split_at_mut((j + 1) * size);
        let column = &mut head[j * size..];
        let pivot = column[j];
        if pivot.is_nan() || pivot <= least(j) {
            failed = Some(j);
            break;
        }
        column[j] = pivot.sqrt();
        let scale = column[j];
        column[j + 1..].iter_mut().for_each(|v| *v /= scale);
        for (k, other) in later.chunks_exact_mut(size).enumerate() {
            let q = j + 1 + k;
            let multiple = column[q];
            for (v, l) in other[q..].iter_mut().zip(&column[q..]) {
                *v -= multiple * l;
            }
        }
    }
    for j in 0..failed.unwrap_or(size) {
        for i in j..size {
            matrix[(i, j)] = copy[j * size + i];
        }
    }
    failed.map_or(Ok(matrix), Err)
}
