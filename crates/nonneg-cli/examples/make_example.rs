//! Makes the problem that `nonneg solve` solves when no file is given:
//! `cargo run -p nonneg-cli --example make_example` writes crates/nonneg-cli/example/*.csv.
//!
//! Raman spectra of fourteen painters' materials at 120 wavenumbers. The band positions are the well-known ones (cm⁻¹);
//! heights, widths and the mixture are ours.

use std::fmt::Write;
use std::path::Path;

use nonneg_cli::generate::Random;

/// Material, share in the mixture, bands (position, height).
type Material = (&'static str, f64, &'static [(f64, f64)]);

const MATERIALS: [Material; 14] = [
    ("lead white", 0.0, &[(1050.0, 1.0), (415.0, 0.15), (680.0, 0.08)]),
    ("chalk", 0.32, &[(1086.0, 1.0), (282.0, 0.35), (712.0, 0.25)]),
    ("gypsum", 0.0, &[(1008.0, 1.0), (414.0, 0.3), (493.0, 0.25), (619.0, 0.2), (670.0, 0.2), (1135.0, 0.25)]),
    ("anatase", 0.18, &[(144.0, 1.0), (397.0, 0.25), (516.0, 0.3), (639.0, 0.4)]),
    ("vermilion", 0.22, &[(253.0, 1.0), (284.0, 0.25), (343.0, 0.6)]),
    ("red ochre", 0.0, &[(225.0, 0.7), (293.0, 1.0), (412.0, 0.7), (613.0, 0.4), (1320.0, 0.5)]),
    ("yellow ochre", 0.0, &[(299.0, 0.35), (387.0, 1.0), (480.0, 0.3), (549.0, 0.3)]),
    ("lead-tin yellow", 0.0, &[(130.0, 1.0), (196.0, 0.5), (275.0, 0.2), (291.0, 0.25), (457.0, 0.3)]),
    ("orpiment", 0.0, &[(154.0, 0.5), (202.0, 0.4), (311.0, 0.5), (355.0, 1.0), (382.0, 0.4)]),
    ("malachite", 0.0, &[(178.0, 0.6), (217.0, 0.6), (268.0, 0.5), (433.0, 1.0), (1492.0, 0.8)]),
    ("azurite", 0.0, &[(248.0, 0.4), (400.0, 1.0), (770.0, 0.3), (1098.0, 0.4), (1430.0, 0.5), (1580.0, 0.4)]),
    ("ultramarine", 0.28, &[(258.0, 0.15), (548.0, 1.0), (822.0, 0.1), (1096.0, 0.45), (1640.0, 0.1)]),
    ("indigo", 0.0, &[(252.0, 0.3), (546.0, 0.35), (599.0, 0.4), (1310.0, 0.5), (1572.0, 1.0)]),
    ("carbon black", 0.0, &[(1325.0, 0.9), (1580.0, 1.0)]),
];

const CHANNELS: usize = 120;
/// Standard deviation of the noise; the strongest band of the mixture is about 0.4.
const NOISE: f64 = 0.004;

fn main() -> std::io::Result<()> {
    let mut random = Random::new(1650);
    let widths: Vec<f64> =
        MATERIALS.iter().map(|(name, ..)| if *name == "carbon black" { 60.0 } else { random.between(24.0, 36.0) }).collect();
    let names: Vec<&str> = MATERIALS.iter().map(|(name, ..)| *name).collect();
    let mut spectra = names.join(",") + "\n";
    let mut measured = String::from("intensity\n");
    for channel in 0..CHANNELS {
        let shift = 100.0 + 1600.0 * channel as f64 / (CHANNELS - 1) as f64;
        let at = |bands: &[(f64, f64)], width: f64| -> f64 {
            bands.iter().map(|&(centre, height)| height * (-0.5 * ((shift - centre) / width).powi(2)).exp()).sum()
        };
        let row: Vec<f64> = MATERIALS.iter().zip(&widths).map(|((_, _, bands), &width)| at(bands, width)).collect();
        let cells: Vec<String> = row.iter().map(|value| format!("{value:.4}")).collect();
        let mixture: f64 = row.iter().zip(&MATERIALS).map(|(value, (_, share, _))| share * value).sum();
        let _ = writeln!(spectra, "{}", cells.join(","));
        let _ = writeln!(measured, "{:.4}", mixture + NOISE * random.normal());
    }
    let mut truth = String::from("share\n");
    MATERIALS.iter().for_each(|(_, share, _)| truth += &format!("{share}\n"));

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("pigments.csv"), spectra)?;
    std::fs::write(folder.join("measured.csv"), measured)?;
    std::fs::write(folder.join("truth.csv"), truth)
}
