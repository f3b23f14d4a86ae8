//! Recomputes SI-NNLS+ from its definitions, beside a run that it only watches.

use super::{Small, distance, dot};

/// What a run shows to the outside after each step. Blocks are single columns here.
pub trait Watched {
    fn step(&mut self, block: usize);
    /// xₖ.
    fn current(&self) -> Vec<f64>;
    /// The output after step k.
    fn output(&self) -> Vec<f64>;
    /// The image that the run holds for its output.
    fn image(&self) -> Vec<f64>;
    /// aₖ.
    fn weight(&self) -> f64;
}

/// Follows `run` (already at k = 1, started from `start`) through `blocks`; says what the first violated definition is.
pub fn audit(small: &Small, start: &[f64], run: &mut impl Watched, blocks: &[usize]) -> Result<(), String> {
    let n = start.len() as f64;
    let (norms, c) = (small.norms(), small.linear());
    let upper: Vec<f64> = c.iter().zip(&norms).map(|(c, l)| c / l).collect();

    let mut a = vec![run.weight()];
    if (a[0] * 2f64.sqrt() * n.powf(1.5) - 1.0).abs() > 1e-12 {
        return Err(format!("a₁ = {} is not 1/(√2·n^1.5)", a[0]));
    }
    let mut phi: Vec<f64> = small.gradient(start).iter().map(|g| a[0] * g).collect();
    let mut iterates: Vec<Vec<f64>> = Vec::new();
    let mut images = vec![small.image(start)]; // y₀, y₁, …
    for k in 1..=blocks.len() + 1 {
        let total: f64 = a.iter().sum();
        // xₖ = argmin φₖ over 0 ≤ x ≤ u.
        let minimiser: Vec<f64> = (0..start.len()).map(|j| (start[j] - phi[j] / norms[j]).clamp(0.0, upper[j])).collect();
        if distance(&minimiser, &run.current()) > 1e-9 {
            return Err(format!("step {k}: xₖ does not minimise φₖ"));
        }
        iterates.push(run.current());
        // x̃ₖ = Σ aᵢᵏxᵢ/Aₖ with the paper's weights aᵢᵏ, all ≥ 0.
        let mut average = vec![0.0; start.len()];
        for (i, x) in iterates.iter().enumerate() {
            let weight = match (i + 1 == k, i) {
                (true, 0) => a[0],
                (true, _) => n * a[i],
                (false, 0) => a[0] - (n - 1.0) * a[1],
                (false, _) => n * a[i] - (n - 1.0) * a[i + 1],
            };
            if weight < -1e-12 * total {
                return Err(format!("step {k}: the weight of x_{} is negative", i + 1));
            }
            average.iter_mut().zip(x).for_each(|(s, x)| *s += weight / total * x);
        }
        if distance(&average, &run.output()) > 1e-9 {
            return Err(format!("step {k}: the output is not Σ aᵢᵏxᵢ/Aₖ"));
        }
        if distance(&small.image(&average), &run.image()) > 1e-9 {
            return Err(format!("step {k}: yₖ is not Ax̃ₖ"));
        }
        images.push(small.image(&average));
        let Some(&block) = blocks.get(k - 1) else { break };

        run.step(block);
        let (last, next) = (a[k - 1], run.weight());
        let growth = if k == 1 { last / (n - 1.0) } else { n * last / (n - 1.0) };
        let expected = growth.min(total.sqrt() / (2.0 * n));
        if (next / expected - 1.0).abs() > 1e-12 {
            return Err(format!("a_{} is {next}, the definition gives {expected}", k + 1));
        }
        a.push(next);
        // φₖ₊₁ gains n·aₖ₊₁·(Aᵀȳₖ − c) on the block, with ȳₖ = yₖ + (aₖ/aₖ₊₁)(yₖ − yₖ₋₁).
        let extrapolated: Vec<f64> = images[k].iter().zip(&images[k - 1]).map(|(y, old)| y + last / next * (y - old)).collect();
        phi[block] += n * next * (dot(&small.columns[block], &extrapolated) - c[block]);
    }
    Ok(())
}
