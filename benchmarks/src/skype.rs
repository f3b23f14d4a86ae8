//! Shapes of karyotype reconstruction: tens of thousands of genome bins, hundreds to thousands of candidate paths, dense f32,
//! solved again and again on some of the columns with a warm start.

use nonneg::{DenseMatrix, Problem, Solution, Solver};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::json;

use crate::report::{Section, Table, digits};
use crate::timing::{median, seconds};
use crate::{Context, Outcome};

pub const TITLE: &str = "One dense f32 matrix, many solves";

const ROWS: usize = 26_000;
const TOLERANCE: f64 = 1e-6;
const SOLVES: usize = 10;

pub fn measure(context: &Context) -> Outcome<Section> {
    let mut section = Section::new(json!({ "rows": ROWS, "tolerance": TOLERANCE, "solves": SOLVES }));
    section.note(format!(
        "{ROWS} rows, columns of copy numbers with noise, f32, gap {TOLERANCE:e}. Prepared: `Problem` (checks, norms, signs, and \
         the whole Gram matrix of at most 1024 columns). Again: medians over {SOLVES} solves of each kind, every one certified. \
         Alone: the same question to a plain solve on a copy of the columns, that copy not counted. Aᵀy: one product with all \
         columns, the physical limit of looking at A once."
    ));
    let mut table =
        Table::new(["columns", "Aᵀy s", "prepare s", "first s", "other b s", "tenth of columns dropped, warm s", "alone s"]);
    for columns in if context.quick { vec![500] } else { vec![500, 10_000] } {
        let [product, prepare, first, other, again, alone] = one_size(columns)?.map(|seconds| digits(seconds, 3));
        table.row([columns.to_string(), product, prepare, first, other, again, alone]);
    }
    section.table(table);
    Ok(section)
}

/// Seconds for each cell of the table.
fn one_size(columns: usize) -> Outcome<[f64; 6]> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(columns as u64);
    let values = paths(columns, &mut rng);
    let b = depths(&values, columns, &mut rng);
    let matrix = DenseMatrix::new(ROWS, columns, values)?;
    let solver = Solver::new().tolerance(TOLERANCE);

    let product = seconds(|| drop(nonneg::matrix::multiply_transposed(&matrix, &b)));
    let mut problem = None;
    let prepare = seconds(|| problem = Some(Problem::new(&matrix)));
    let problem = problem.expect("just made")?;
    let mut first = None;
    let first_seconds = seconds(|| first = Some(solver.solve_problem(&problem.least_squares(&b))));
    let first = solved(first.expect("just solved")?)?;

    let (mut other, mut again, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..SOLVES {
        let noisy: Vec<f64> = b.iter().map(|v| v * (1.0 + 0.02 * (unit(&mut rng) - 0.5))).collect();
        let mut solution = None;
        other.push(seconds(|| solution = Some(solver.solve_problem(&problem.least_squares(&noisy)))));
        solved(solution.take().expect("just solved")?)?;

        let set: Vec<usize> = (0..columns).filter(|_| unit(&mut rng) > 0.1).collect();
        again.push(seconds(|| solution = Some(solver.solve_problem(&problem.least_squares(&b).columns(&set).start(&first.x)))));
        solved(solution.take().expect("just solved")?)?;

        let copy: Vec<f32> = set.iter().flat_map(|&j| &matrix.view().values()[j * ROWS..(j + 1) * ROWS]).copied().collect();
        let copy = DenseMatrix::new(ROWS, set.len(), copy)?;
        alone.push(seconds(|| solution = Some(solver.solve(&copy, &b))));
        solved(solution.take().expect("just solved")?)?;
    }
    Ok([product, prepare, first_seconds, median(&other), median(&again), median(&alone)])
}

fn solved(solution: Solution) -> Outcome<Solution> {
    match solution.status.is_success() {
        true => Ok(solution),
        false => Err(format!("a solve ended {:?}", solution.status).into()),
    }
}

fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Each column: a path through the genome, once or twice over some stretches, with the noise of sequencing.
fn paths(columns: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
    let mut values = vec![0.0f32; ROWS * columns];
    for column in values.chunks_mut(ROWS) {
        for _ in 0..1 + (6.0 * unit(rng)) as usize {
            let (start, length) = ((unit(rng) * ROWS as f64) as usize, (unit(rng).powi(2) * 0.3 * ROWS as f64) as usize);
            column[start..(start + length + 1).min(ROWS)].iter_mut().for_each(|v| *v += 1.0);
        }
        column.iter_mut().for_each(|v| *v *= 1.0 + 0.05 * (unit(rng) as f32 - 0.5));
    }
    values
}

/// The depth that a few of the paths explain, with noise.
fn depths(values: &[f32], columns: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut b = vec![0.0; ROWS];
    for _ in 0..40 {
        let (j, weight) = ((unit(rng) * columns as f64) as usize, unit(rng));
        b.iter_mut().zip(&values[j * ROWS..(j + 1) * ROWS]).for_each(|(b, &v)| *b += weight * f64::from(v));
    }
    b.iter_mut().for_each(|b| *b += 0.2 * unit(rng));
    b
}
