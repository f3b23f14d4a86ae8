//! Figure 2: whether a nonzero costs the same in a small problem and in a large one.
//!
//! One family: every column has exactly 100 nonzeros, one in each of 100 equal bands of rows, at a random place in the
//! band, with values uniform in [0.5, 1.5); there are half as many rows as columns, so that a row has 200 nonzeros at
//! every size and only the size changes. Rows are hit at random, without locality: the hardest case for the caches.
//! b = Ax for an x that is positive on a twentieth of the columns, plus noise.

use std::hint::black_box;

use nonneg::algorithm::si_nnls::Blocks;
use nonneg::presolve::Reduced;
use nonneg::{CscMatrix, CscView, LeastSquares};
use nonneg_cli::generate::Random;
use serde::Serialize;
use serde_json::json;

use crate::engines::{self, LazyRun, WARM_UP};
use crate::report::{Goal, Section, Table, digits};
use crate::timing::{median, memory_limit, range, seconds};
use crate::{Context, Outcome};

pub const TITLE: &str = "Cost of a nonzero from small to large (one thread)";

const NONZEROS: [usize; 4] = [100_000, 1_000_000, 10_000_000, 100_000_000];
const PER_COLUMN: usize = 100;
const COLUMNS_PER_ROW: usize = 2;
const PLANTED: f64 = 0.05;
const NOISE: f64 = 0.01;
const SEED: u64 = 7;

/// Rounds in which every size takes its turn; small problems repeat the epoch until this many nonzeros are done.
const ROUNDS: usize = 7;
const NONZEROS_PER_ROUND: u64 = 20_000_000;
const AT_MOST_APART: f64 = 4.0;

#[derive(Debug, Serialize)]
struct Row {
    nonzeros: usize,
    rows: usize,
    columns: usize,
    bytes: usize,
    epochs_per_round: usize,
    lazy_ns_per_nonzero: f64,
    product_ns_per_nonzero: f64,
    /// Columns in random order.
    jumping_product_ns_per_nonzero: f64,
    limit_ns_per_nonzero: Option<f64>,
    /// Share of the columns whose x changed in the last round.
    moved: f64,
}

pub fn measure(context: &Context) -> Outcome<Section> {
    let sizes = if context.quick { &NONZEROS[..3] } else { &NONZEROS[..] };
    let made = sizes.iter().map(|&nonzeros| generate(nonzeros)).collect::<Outcome<Vec<(CscMatrix, Vec<f64>)>>>()?;
    let rows = race(&made, context)?;

    let mut section = Section::new(json!({ "warm_up_epochs": WARM_UP, "rounds": ROUNDS, "sizes": &rows }));
    section.note(format!(
        "Generated problems of one family: {PER_COLUMN} nonzeros in every column at random rows, half as many rows as columns, \
         values in [0.5, 1.5), planted x. Medians of {ROUNDS} rounds in which the sizes take turns, after {WARM_UP} epochs."
    ));
    let mut table = Table::new([
        "nonzeros",
        "shape",
        "MB",
        "lazy, ns/nonzero",
        "Aᵀy, ns/nonzero",
        "Aᵀy in random order, ns/nonzero",
        "memory limit, ns/nonzero",
        "columns moved",
    ]);
    for row in &rows {
        table.row([
            format!("{:.0e}", row.nonzeros as f64),
            format!("{}×{}", row.rows, row.columns),
            digits(row.bytes as f64 / 1e6, 3),
            digits(row.lazy_ns_per_nonzero, 3),
            digits(row.product_ns_per_nonzero, 3),
            digits(row.jumping_product_ns_per_nonzero, 3),
            row.limit_ns_per_nonzero.map_or("–".into(), |limit| digits(limit, 3)),
            format!("{:.0} %", 100.0 * row.moved),
        ]);
    }
    section.table(table);

    let apart = |pace: fn(&Row) -> f64| {
        let (least, most) = range(&rows.iter().map(pace).collect::<Vec<f64>>());
        most / least
    };
    let (first, last) = (sizes[0] as f64, sizes[sizes.len() - 1] as f64);
    let yardstick = format!(
        "Aᵀy: {} × apart; in random order {} ×",
        digits(apart(|row| row.product_ns_per_nonzero), 3),
        digits(apart(|row| row.jumping_product_ns_per_nonzero), 3)
    );
    let goal = Goal::at_most(
        format!("ns per nonzero of a lazy epoch, {first:.0e} to {last:.0e} nonzeros: largest / smallest"),
        apart(|row| row.lazy_ns_per_nonzero),
        AT_MOST_APART,
        "×",
    );
    section.goal(goal.limit(Some(yardstick)));
    Ok(section)
}

fn generate(nonzeros: usize) -> Outcome<(CscMatrix, Vec<f64>)> {
    let columns = nonzeros / PER_COLUMN;
    let band = columns / COLUMNS_PER_ROW / PER_COLUMN;
    let rows = band * PER_COLUMN;
    let mut random = Random::new(SEED);
    let (mut row_idx, mut values) = (Vec::<u32>::with_capacity(nonzeros), Vec::with_capacity(nonzeros));
    let mut rhs: Vec<f64> = (0..rows).map(|_| NOISE * random.uniform()).collect();
    for _ in 0..columns {
        let x = if random.uniform() < PLANTED { random.exponential() } else { 0.0 };
        for first in (0..rows).step_by(band) {
            let (row, value) = (first + random.below(band), random.between(0.5, 1.5));
            row_idx.push(u32::try_from(row).map_err(|_| format!("row {row} does not fit 32 bits"))?);
            values.push(value);
            rhs[row] += value * x;
        }
    }
    let col_ptr = (0..=columns).map(|j| j * PER_COLUMN).collect();
    Ok((CscMatrix::new(rows, columns, col_ptr, row_idx, values)?, rhs))
}

/// One size while it is measured.
struct Lane<'p> {
    reduced: &'p Reduced<'p, CscView<'p>>,
    run: LazyRun<'p, CscView<'p>>,
    nonzeros: u64,
    epochs: usize,
    y: Vec<f64>,
    product: Vec<f64>,
    /// The columns, shuffled.
    order: Vec<u32>,
    /// Nanoseconds per nonzero of each round: lazy, Aᵀy, Aᵀy in random order.
    paces: [Vec<f64>; 3],
    moved: f64,
}

impl<'p> Lane<'p> {
    fn new(reduced: &'p Reduced<'p, CscView<'p>>, blocks: &'p Blocks) -> Self {
        let nonzeros = engines::nonzeros(reduced);
        let mut run = LazyRun::new(reduced, blocks);
        (0..WARM_UP).for_each(|_| run.epoch());
        run.take_work();
        let mut random = Random::new(SEED);
        let mut order: Vec<u32> = (0..reduced.len() as u32).collect();
        (1..order.len()).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        Self {
            reduced,
            run,
            nonzeros,
            epochs: (NONZEROS_PER_ROUND / nonzeros.max(1)).max(1) as usize,
            y: (0..reduced.matrix.rows()).map(|i| 1.0 + (i % 7) as f64).collect(),
            product: vec![0.0; reduced.len()],
            order,
            paces: Default::default(),
            moved: 0.0,
        }
    }

    fn round(&mut self) {
        let before = self.run.x();
        let time = seconds(|| (0..self.epochs).for_each(|_| self.run.epoch()));
        self.paces[0].push(1e9 * time / self.run.take_work() as f64);
        let changed = before.iter().zip(self.run.x()).filter(|(old, new)| *old != new).count();
        self.moved = changed as f64 / before.len() as f64;

        let work = self.nonzeros as f64 * self.epochs as f64;
        let time = seconds(|| {
            for _ in 0..self.epochs {
                engines::multiply_transposed(self.reduced, black_box(&self.y), &mut self.product);
                black_box(&mut self.product);
            }
        });
        self.paces[1].push(1e9 * time / work);
        let time = seconds(|| {
            for _ in 0..self.epochs {
                engines::multiply_in_order(self.reduced, &self.order, black_box(&self.y), &mut self.product);
                black_box(&mut self.product);
            }
        });
        self.paces[2].push(1e9 * time / work);
    }

    fn result(&self, bandwidth: f64) -> Row {
        let (view, [lazy, product, jumping]) = (self.reduced.matrix, self.paces.each_ref().map(|paces| median(paces)));
        Row {
            nonzeros: view.nnz(),
            rows: view.rows(),
            columns: view.cols(),
            bytes: view.bytes(),
            epochs_per_round: self.epochs,
            lazy_ns_per_nonzero: lazy,
            product_ns_per_nonzero: product,
            jumping_product_ns_per_nonzero: jumping,
            limit_ns_per_nonzero: memory_limit(view.bytes() as f64, view.nnz() as f64, bandwidth),
            moved: self.moved,
        }
    }
}

fn race(made: &[(CscMatrix, Vec<f64>)], context: &Context) -> Outcome<Vec<Row>> {
    let views: Vec<CscView> = made.iter().map(|(matrix, _)| matrix.view()).collect();
    let statements = made.iter().map(|(matrix, rhs)| LeastSquares::new(matrix, rhs));
    let reduced: Vec<_> = views.iter().zip(statements).map(|(view, s)| Reduced::of(view, &s)).collect::<nonneg::Result<_>>()?;
    let blocks: Vec<Blocks> = reduced.iter().map(engines::single_blocks).collect();
    let mut lanes: Vec<Lane> = reduced.iter().zip(&blocks).map(|(reduced, blocks)| Lane::new(reduced, blocks)).collect();
    for _ in 0..ROUNDS {
        lanes.iter_mut().for_each(Lane::round);
    }
    let bandwidth = context.bandwidth();
    Ok(lanes.iter().map(|lane| lane.result(bandwidth)).collect())
}
