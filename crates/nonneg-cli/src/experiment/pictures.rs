//! The panels of a comparison: natural residual and objective gap, against passes and against time.

use super::analysis::{Entry, Standing};
use super::curve::{Curve, Row};
use super::store::file_name;
use crate::failure::Failure;
use crate::plot::{self, Format, Grid, LineStyle, Panel};

/// What a panel shows, in the paper's order.
#[derive(Debug, Clone, Copy)]
enum View {
    ResidualPasses,
    GapPasses,
    ResidualSeconds,
    GapSeconds,
}

impl View {
    const ALL: [View; 4] = [View::ResidualPasses, View::GapPasses, View::ResidualSeconds, View::GapSeconds];

    /// As part of a file's name.
    fn name(self) -> &'static str {
        match self {
            View::ResidualPasses => "residual-passes",
            View::GapPasses => "gap-passes",
            View::ResidualSeconds => "residual-seconds",
            View::GapSeconds => "gap-seconds",
        }
    }

    fn panel(self, standing: &Standing) -> Panel {
        let (x_label, of_time) = match self {
            View::ResidualPasses | View::GapPasses => ("passes over A", false),
            View::ResidualSeconds | View::GapSeconds => ("seconds", true),
        };
        let y_label = match self {
            View::ResidualPasses | View::ResidualSeconds => "natural residual",
            View::GapPasses | View::GapSeconds => "objective gap",
        };
        let unknown = standing.unknown().unwrap_or(0.0);
        let value = |curve: &Curve, row: &Row| match self {
            View::ResidualPasses | View::ResidualSeconds => standing.residual(curve, row),
            // Below what is proved of the best f, differences mean nothing: down to the edge.
            View::GapPasses | View::GapSeconds => standing.gap(row).map(|gap| if gap < unknown { 0.0 } else { gap }),
        };
        let curves = shown(standing).filter_map(|(entry, style)| {
            let curve = standing.curve(entry)?;
            let point = |row: &Row| Some((if of_time { row.seconds } else { row.passes }, value(curve, row)?));
            Some(plot::Curve { points: curve.rows.iter().filter_map(point).collect(), style })
        });
        Panel { title: standing.subject.name.clone(), x_label: x_label.into(), y_label: y_label.into(), curves: curves.collect() }
    }
}

/// A method has the same style on every data set: styles go by its place in the list, all block sizes of a kind share one.
fn shown<'a>(standing: &'a Standing) -> impl Iterator<Item = (&'a Entry, LineStyle)> {
    let kind = |entry: &Entry| match entry.method.split_once("-bs") {
        Some((method, rest)) => format!("{method} {}", rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => entry.method.clone(),
    };
    let mut kinds: Vec<String> = Vec::new();
    let mut styled = Vec::new();
    for entry in &standing.entries {
        let kind = kind(entry);
        let place = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        if entry.shown {
            styled.push((entry, LineStyle::of(place)));
        }
    }
    styled.into_iter()
}

fn legend(standing: &Standing) -> Vec<(String, LineStyle)> {
    shown(standing).map(|(entry, style)| (entry.label.clone(), style)).collect()
}

/// One panel in a file of its own.
pub struct Picture {
    /// The file's name without its ending.
    pub name: String,
    grid: Grid,
}

impl Picture {
    pub fn render(&self, format: Format) -> Result<Vec<u8>, Failure> {
        self.grid.render(format)
    }
}

/// Every panel by itself.
pub fn panels(standings: &[Standing]) -> Vec<Picture> {
    let picture = |standing: &Standing, view: View| Picture {
        name: format!("{}-{}", file_name(&standing.subject.name), view.name()),
        grid: Grid { columns: 1, panel_size: (620, 420), panels: vec![view.panel(standing)], legend: legend(standing) },
    };
    standings.iter().flat_map(|standing| View::ALL.map(|view| picture(standing, view))).collect()
}

/// All panels, a row for each data set as in the paper. The best block size differs from set to set: the legend says so.
pub fn figure(standings: &[Standing], format: Format) -> Result<Vec<u8>, Failure> {
    let panels = standings.iter().flat_map(|standing| View::ALL.map(|view| view.panel(standing))).collect();
    let mut common: Vec<(String, LineStyle)> = Vec::new();
    for (label, style) in standings.iter().flat_map(legend) {
        match common.iter_mut().find(|(_, known)| *known == style) {
            None => common.push((label, style)),
            Some((known, _)) if *known != label => *known = merged(known, &label),
            Some(_) => {}
        }
    }
    Grid { columns: 4, panel_size: (330, 250), panels, legend: common }.render(format)
}

/// "…, bs 10 (ours)" and "…, bs 50 (ours)": "…, best bs (ours)".
fn merged(one: &str, other: &str) -> String {
    let start: String = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let Some(cut) = start.rfind(", bs ").or_else(|| one.find(", best bs").filter(|&cut| other.starts_with(&one[..cut]))) else {
        return one.to_owned();
    };
    let rest = one[cut..].find(" (").map_or("", |end| &one[cut + end..]);
    format!("{}, best bs{rest}", &one[..cut])
}

/// The panels of one data set for a page, which lays them out by its width, and the legend in pieces.
pub fn inline(standing: &Standing) -> Result<String, Failure> {
    let svg = |panels: Vec<Panel>, width: u32, legend: Vec<(String, LineStyle)>| {
        let height = if panels.is_empty() { 0 } else { 330 };
        let bytes = Grid { columns: 1, panel_size: (width, height), panels, legend }.render(Format::Svg)?;
        String::from_utf8(bytes).map_err(|error| Failure::new(format!("cannot draw the plot: {error}")))
    };
    let mut html = String::from("<div class=\"panels\">\n");
    for view in View::ALL {
        html += &svg(vec![view.panel(standing)], 480, Vec::new())?;
    }
    html += "</div>\n<div class=\"legend\">\n";
    for (label, style) in legend(standing) {
        html += &svg(Vec::new(), Grid::legend_width(&label), vec![(label, style)])?;
    }
    Ok(html + "</div>\n")
}

#[cfg(test)]
mod tests {
    use super::super::analysis::tests::{made_up, subject};
    use super::*;

    #[test]
    fn labels_of_different_block_sizes_are_merged() {
        let one = "SI-NNLS+ restarted, bs 10 (ours)";
        let two = merged(one, "SI-NNLS+ restarted, bs 300 (ours)");
        assert_eq!(two, "SI-NNLS+ restarted, best bs (ours)");
        assert_eq!(merged(&two, "SI-NNLS+ restarted, bs 50 (ours)"), two);
        assert_eq!(merged("FISTA", "FISTA"), "FISTA");
    }

    #[test]
    fn methods_keep_their_style_whatever_block_size_is_shown() {
        let rates = |slow: f64, fast: f64| {
            let curve = |name: &str, rate: f64| made_up(name, move |passes| 10f64.powf(-passes / rate));
            subject(vec![curve("auto", 10.0), curve("si-nnls-bs10", slow), curve("si-nnls-bs50", fast), curve("cd", 30.0)])
        };
        let style = |subject: &super::super::curve::Subject, name: &str| {
            let standing = Standing::new(subject);
            shown(&standing).find(|(entry, _)| entry.method == name).map(|(_, style)| style)
        };
        let (one, two) = (rates(90.0, 50.0), rates(50.0, 90.0));
        assert_eq!(style(&one, "si-nnls-bs50"), style(&two, "si-nnls-bs10"));
        assert_eq!(style(&one, "cd"), style(&two, "cd"));
        assert_eq!(style(&one, "si-nnls-bs10"), None);
        assert_eq!(inline(&Standing::new(&one)).unwrap().matches("<svg").count(), 4 + 3);
    }
}
