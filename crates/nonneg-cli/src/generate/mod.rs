//! Seeded problems of the kinds that non-negative least squares meets in practice.
//!
//! Every A is non-negative; b = Ax + noise for a planted sparse x (labels ±1 for text). The same seed gives the same
//! problem. Each generator is a plain function in its own file and builds A in one sweep, without a list of triplets.

mod blur;
mod counts;
mod plant;
mod random;
mod spectra;
mod text;
mod tomography;
mod uniform;

use nonneg::AnyMatrix;

pub use blur::blur;
pub use counts::counts;
pub use random::Random;
pub use spectra::spectra;
pub use text::text;
pub use tomography::tomography;
pub use uniform::{uniform, uniform_sparse};

/// A problem made by a generator.
#[derive(Debug, Clone)]
pub struct Generated {
    /// A ≥ 0.
    pub matrix: AnyMatrix,
    /// b.
    pub rhs: Vec<f64>,
}

/// The generators, under the names of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Documents × words: Zipf words, tf-idf, unit rows, labels ±1; sparse.
    Text,
    /// Entries uniform in [0, 1); dense, or sparse when a density below 1 is asked for.
    Uniform,
    /// Channels × reference spectra, each a sum of Gaussian peaks; dense.
    Spectra,
    /// Rays × pixels, parallel-beam intersection lengths; sparse.
    Tomography,
    /// Pixels × pixels, a Gaussian point-spread function; sparse.
    Blur,
    /// Features × samples of Poisson counts; sparse.
    Counts,
}

/// The sizes asked for; what is `None` gets the generator's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// m.
    pub rows: Option<usize>,
    /// n.
    pub cols: Option<usize>,
    /// Share of entries that are stored, in (0, 1].
    pub density: Option<f64>,
}

impl Kind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Kind; 6] = [Kind::Text, Kind::Uniform, Kind::Spectra, Kind::Tomography, Kind::Blur, Kind::Counts];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Uniform => "uniform",
            Kind::Spectra => "spectra",
            Kind::Tomography => "tomography",
            Kind::Blur => "blur",
            Kind::Counts => "counts",
        }
    }

    /// Makes a problem of this kind. The error says which size does not fit and what would.
    pub fn generate(self, sizes: &Sizes, seed: u64) -> Result<Generated, String> {
        self.check(sizes)?;
        let mut random = Random::new(seed);
        let random = &mut random;
        let size = |rows, cols| (sizes.rows.unwrap_or(rows), sizes.cols.unwrap_or(cols));
        match self {
            Kind::Text => {
                let (rows, cols) = size(3000, 6000);
                check_count(rows, cols, sizes.density.unwrap_or(0.01))?;
                text(rows, cols, sizes.density.unwrap_or(0.01), random)
            }
            Kind::Uniform => {
                let (rows, cols) = size(1000, 800);
                let density = sizes.density.unwrap_or(1.0);
                check_count(rows, cols, density)?;
                if density < 1.0 { uniform_sparse(rows, cols, density, random) } else { uniform(rows, cols, random) }
            }
            Kind::Spectra => {
                let (rows, cols) = size(1000, 600);
                check_count(rows, cols, 1.0)?;
                spectra(rows, cols, random)
            }
            Kind::Tomography => {
                let side = square_side(sizes.cols.unwrap_or(64 * 64))?;
                let rows = sizes.rows.unwrap_or(side * side * 3 / 2);
                check_count(rows, 2 * side, 1.0)?;
                tomography(rows, side, random)
            }
            Kind::Blur => {
                let pixels = match (sizes.rows, sizes.cols) {
                    (Some(rows), Some(cols)) if rows != cols => {
                        return Err(format!("blur maps an image to an image: --rows ({rows}) and --cols ({cols}) must agree"));
                    }
                    (rows, cols) => cols.or(rows).unwrap_or(64 * 64),
                };
                check_count(pixels, 100, 1.0)?;
                blur(square_side(pixels)?, random)
            }
            Kind::Counts => {
                let (rows, cols) = size(4000, 1000);
                check_count(rows, cols, sizes.density.unwrap_or(0.05))?;
                counts(rows, cols, sizes.density.unwrap_or(0.05), random)
            }
        }
        .map_err(|error| error.to_string())
    }

    fn check(self, sizes: &Sizes) -> Result<(), String> {
        for (name, size) in [("--rows", sizes.rows), ("--cols", sizes.cols)] {
            if size.is_some_and(|size| size == 0 || size > u32::MAX as usize) {
                return Err(format!("{name} is {}, expected 1 to {}", size.unwrap_or(0), u32::MAX));
            }
        }
        if let Some(density) = sizes.density {
            if !(density > 0.0 && density <= 1.0) {
                return Err(format!("--density is {density}, expected a number above 0 and at most 1"));
            }
            if matches!(self, Kind::Spectra | Kind::Tomography | Kind::Blur) {
                return Err(format!("--density has no meaning for {}: its geometry decides which entries are zero", self.name()));
            }
        }
        Ok(())
    }
}

/// Refuses what could not be held in memory anyway, before anything is allocated.
fn check_count(rows: usize, cols: usize, density: f64) -> Result<(), String> {
    let entries = rows as f64 * cols as f64 * density;
    if entries > 4e9 {
        return Err(format!("about {entries:.1e} entries were asked for; the generators make at most 4e9"));
    }
    Ok(())
}

/// k with k² = pixels.
fn square_side(pixels: usize) -> Result<usize, String> {
    let side = pixels.isqrt();
    if side * side != pixels {
        return Err(format!(
            "{pixels} pixels do not form a square image; the nearest sizes are {} ({side}×{side}) and {} ({next}×{next})",
            side * side,
            (side + 1) * (side + 1),
            next = side + 1
        ));
    }
    Ok(side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nonneg::matrix::{Column, Columns};

    fn small(kind: Kind) -> Sizes {
        let (rows, cols) = match kind {
            Kind::Blur => (100, 100),
            Kind::Tomography => (90, 64),
            _ => (60, 40),
        };
        Sizes { rows: Some(rows), cols: Some(cols), density: None }
    }

    #[test]
    fn all_kinds_are_seeded_non_negative_and_of_the_size_asked_for() {
        for kind in Kind::ALL {
            let sizes = small(kind);
            let made = kind.generate(&sizes, 1).unwrap();
            let again = kind.generate(&sizes, 1).unwrap();
            let other = kind.generate(&sizes, 2).unwrap();
            assert_eq!(made.rhs, again.rhs, "{kind:?}");
            assert_ne!(made.rhs, other.rhs, "{kind:?}");
            let view = made.matrix.view();
            assert_eq!((Some(view.rows()), Some(view.cols())), (sizes.rows, sizes.cols), "{kind:?}");
            assert_eq!(made.rhs.len(), view.rows());
            assert!(made.rhs.iter().all(|b| b.is_finite()));
            let (mut positive, mut wrong) = (0, 0);
            nonneg::with_columns!(view, |a| for j in 0..a.cols() {
                a.column(j).for_each(|_, v| {
                    if v > 0.0 {
                        positive += 1
                    } else if v != 0.0 {
                        wrong += 1
                    }
                });
            });
            assert!(positive > 0 && wrong == 0, "{kind:?}");
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused_with_a_reason() {
        let refuse = |kind: Kind, sizes| kind.generate(&sizes, 0).unwrap_err();
        assert!(refuse(Kind::Blur, Sizes { cols: Some(10), ..Sizes::default() }).contains("9 (3×3)"));
        assert!(refuse(Kind::Blur, Sizes { cols: Some(9), rows: Some(16), density: None }).contains("must agree"));
        assert!(refuse(Kind::Text, Sizes { rows: Some(0), ..Sizes::default() }).contains("--rows"));
        assert!(refuse(Kind::Text, Sizes { density: Some(0.0), ..Sizes::default() }).contains("--density"));
        assert!(refuse(Kind::Spectra, Sizes { density: Some(0.5), ..Sizes::default() }).contains("no meaning"));
        assert!(refuse(Kind::Uniform, Sizes { rows: Some(4_000_000), cols: Some(4_000_000), density: None }).contains("4e9"));
    }
}
