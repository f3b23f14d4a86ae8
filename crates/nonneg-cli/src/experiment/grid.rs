//! Runs every method on every problem, one after the other, each with the same budget.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nonneg::matrix::{Column, Columns};
use nonneg::with_columns;

use super::contestant::Contestant;
use super::curve::{Curve, Subject};
use super::source::Role;
use super::store::{Identity, Store};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::progress::GridProgress;

/// How every method is run.
#[derive(Debug, Clone)]
pub struct Rules {
    /// For each method on each problem.
    pub budget: Duration,
    /// A certified gap at which a method may stop before that.
    pub tolerance: f64,
    pub seed: u64,
    pub threads: usize,
}

/// The name of a problem, where it came from, and what the paper says of its kind.
#[derive(Debug, Clone)]
pub struct Title {
    pub name: String,
    pub origin: String,
    pub role: Option<Role>,
}

/// All methods on one problem. `None`: interrupted; what is finished is in the store.
pub fn run(
    title: Title,
    inputs: &Inputs,
    contestants: &[Contestant],
    rules: &Rules,
    store: &Store,
    interrupt: &Arc<AtomicBool>,
    progress: &mut GridProgress,
) -> Result<Option<Subject>, Failure> {
    let problem = inputs.problem();
    let digest = digest(inputs);
    let mut subject = Subject {
        name: title.name,
        origin: title.origin,
        role: title.role,
        rows: problem.matrix.rows(),
        cols: problem.matrix.cols(),
        entries: problem.matrix.nnz(),
        signed: false,
        curves: Vec::new(),
    };
    with_columns!(problem.matrix, |a| {
        subject.signed = (0..a.cols()).any(|j| a.column(j).extremes().negative);
    });
    for contestant in contestants {
        let identity = Identity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: contestant.name(),
            problem: digest.clone(),
            seed: rules.seed,
            budget_seconds: rules.budget.as_secs_f64(),
            tolerance: rules.tolerance,
            threads: rules.threads,
        };
        progress.begin(&subject.name, &identity.method);
        let curve = match store.find(&subject.name, &identity) {
            Some(curve) => curve,
            None => {
                let solver = contestant.solver(rules.seed, rules.budget, rules.tolerance).interrupt(interrupt.clone());
                let observe = &mut |row: &nonneg::TraceRow| {
                    progress.check(row);
                    ControlFlow::Continue(())
                };
                let solution = solver.solve_observed(&problem, observe).map_err(|error| inputs.explain(error))?;
                if interrupt.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let curve = Curve::new(identity.method.clone(), contestant.label(), &solution);
                store.keep(&subject.name, &identity, &curve)?;
                curve
            }
        };
        progress.end(&curve);
        subject.curves.push(curve);
    }
    Ok(Some(subject))
}

/// FNV-1a over everything that belongs to the problem.
fn digest(inputs: &Inputs) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5);
    let problem = inputs.problem();
    let mut vector = |values: &[f64]| {
        add(values.len() as u64);
        values.iter().for_each(|v| add(v.to_bits()));
    };
    match problem.target {
        nonneg::Target::Rhs(b) => vector(b),
        nonneg::Target::Linear(c) => {
            vector(&[]);
            vector(c);
        }
    }
    vector(problem.weights.unwrap_or(&[]));
    vector(problem.start.unwrap_or(&[]));
    vector(&[problem.l1, problem.l2]);
    with_columns!(problem.matrix, |a| {
        add(a.rows() as u64);
        for j in 0..a.cols() {
            add(problem.upper.at(j).to_bits());
            add(problem.lower.at(j).to_bits());
            add(u64::from(problem.is_free(j)));
            a.column(j).for_each(|i, v| add(v.to_bits().wrapping_add((i as u64) << 1)));
        }
    });
    format!("{hash:016x}")
}
