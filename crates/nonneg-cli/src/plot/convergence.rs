//! The convergence plot of one run: proved gap and natural residual against passes.

use nonneg::TraceRow;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, linear_ticks, plain, power_of_ten, power_ticks};
use super::{Drawing, FAMILY, Format, GRID, INK, render};
use crate::failure::Failure;

/// In points.
const SIZE: (u32, u32) = (840, 500);

/// Two tones that differ in grey too.
const GAP_COLOR: RGBColor = RGBColor(20, 60, 130);
const RESIDUAL_COLOR: RGBColor = RGBColor(222, 110, 20);

/// Markers are drawn on curves of at most this many points.
const MAX_MARKED: usize = 40;
/// Decades shown below the largest value.
const MAX_DECADES: f64 = 18.0;

/// What is drawn.
#[derive(Debug)]
pub struct Convergence<'a> {
    pub trace: &'a [TraceRow],
    pub method: &'a str,
    pub problem: &'a str,
    pub tol: f64,
}

impl Convergence<'_> {
    /// The file's contents.
    pub fn render(&self, format: Format) -> Result<Vec<u8>, Failure> {
        render(self, SIZE, format)
    }
}

impl Drawing for Convergence<'_> {
    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        scale: u32,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let font = |size: u32| (FAMILY, size * scale).into_font().color(&INK);
        root.fill(&WHITE)?;
        let gap = Curve::new(self.trace, |row| row.relative_gap);
        let residual = Curve::new(self.trace, |row| row.natural_residual).relative_to_first();
        let title = format!("{} on {}", self.method, short_name(self.problem));
        let caption_height = 40 * scale as i32;
        let (head, body) = root.split_vertically(caption_height);
        head.draw(&Text::new(title, (16 * scale as i32, 14 * scale as i32), font(17)))?;

        let Some(frame) = Frame::around(&[&gap, &residual], self.tol) else {
            let (width, height) = body.dim_in_pixel();
            let place = (width as i32 / 2 - 90 * scale as i32, height as i32 / 2);
            return body.draw(&Text::new("the trace has no points to plot", place, font(13)));
        };
        let x_axis = Axis { range: (0.0, frame.right), ticks: linear_ticks(frame.right) };
        let y_axis = Axis { range: (frame.bottom, frame.top), ticks: power_ticks(frame.bottom, frame.top) };
        let mut chart = ChartBuilder::on(&body)
            .margin_right(24 * scale)
            .margin_left(8 * scale)
            .margin_bottom(10 * scale)
            .x_label_area_size(44 * scale)
            .y_label_area_size(58 * scale)
            .build_cartesian_2d(x_axis, y_axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(scale))
            .axis_style(INK.stroke_width(scale))
            .label_style(font(12))
            .axis_desc_style(font(13))
            .x_desc("passes over A")
            .x_label_formatter(&|x| plain(*x))
            .y_label_formatter(&|y| power_of_ten(*y))
            .set_all_tick_mark_size(4 * scale)
            .draw()?;

        if self.tol > 0.0 && (frame.bottom..=frame.top).contains(&self.tol.log10()) {
            let level = self.tol.log10();
            let line = [(0.0, level), (frame.right, level)];
            chart.draw_series(DashedLineSeries::new(line, 2 * scale, 4 * scale, INK.mix(0.7).stroke_width(scale)))?;
            let label = font(11).pos(Pos::new(HPos::Left, VPos::Bottom));
            chart.draw_series([Text::new(" tolerance", (0.0, level), label)])?;
        }
        let (thick, dash) = (2 * scale, 7 * scale);
        if !residual.0.is_empty() {
            let points = residual.in_frame(&frame);
            let style = RESIDUAL_COLOR.stroke_width(thick);
            chart
                .draw_series(DashedLineSeries::new(points.clone(), dash, 4 * scale, style))?
                .label("natural residual (first value = 1)")
                .legend(move |(x, y)| DashedPathElement::new([(x, y), (x + 16 * thick as i32, y)], dash, dash / 2, style));
            if points.len() <= MAX_MARKED {
                let marker = |&at: &(f64, f64)| TriangleMarker::new(at, 5 * scale, RESIDUAL_COLOR.filled());
                chart.draw_series(points.iter().map(marker))?;
            }
        }
        if !gap.0.is_empty() {
            let points = gap.in_frame(&frame);
            let style = GAP_COLOR.stroke_width(thick);
            chart
                .draw_series(LineSeries::new(points.clone(), style))?
                .label("relative gap, proved")
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16 * thick as i32, y)], style));
            if points.len() <= MAX_MARKED {
                chart.draw_series(points.iter().map(|&at| Circle::new(at, 4 * scale, GAP_COLOR.filled())))?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(38 * scale)
            .margin(12 * scale)
            .background_style(WHITE.mix(0.9))
            .border_style(GRID.stroke_width(scale))
            .label_font(font(12))
            .draw()
    }
}

/// (passes, value) with value ≥ 0.
struct Curve(Vec<(f64, f64)>);

impl Curve {
    fn new(trace: &[TraceRow], value: impl Fn(&TraceRow) -> Option<f64>) -> Self {
        let known = |row: &TraceRow| Some((row.passes, value(row)?));
        let drawable = |p: &(f64, f64)| p.0.is_finite() && p.0 >= 0.0 && p.1.is_finite() && p.1 >= 0.0;
        Self(trace.iter().filter_map(known).filter(drawable).collect())
    }

    fn relative_to_first(mut self) -> Self {
        if let Some(first) = self.0.iter().map(|p| p.1).find(|v| *v > 0.0) {
            self.0.iter_mut().for_each(|p| p.1 /= first);
        }
        self
    }

    /// In the chart's coordinates; zeros lie on the lower edge.
    fn in_frame(&self, frame: &Frame) -> Vec<(f64, f64)> {
        self.0.iter().map(|&(x, y)| (x, y.log10().clamp(frame.bottom, frame.top))).collect()
    }
}

/// The part of the plane that is shown: passes, and powers of ten.
#[derive(Debug, PartialEq)]
struct Frame {
    right: f64,
    bottom: f64,
    top: f64,
}

impl Frame {
    /// All points, and the tolerance unless it lies far below them.
    fn around(curves: &[&Curve], tol: f64) -> Option<Self> {
        let points = || curves.iter().flat_map(|curve| &curve.0);
        points().next()?;
        let right = points().fold(0.0, |high: f64, p| high.max(p.0));
        let decades = || points().filter(|p| p.1 > 0.0).map(|p| p.1.log10());
        let top = decades().reduce(f64::max).unwrap_or(0.0).ceil();
        let lowest = decades().reduce(f64::min).unwrap_or(top - 1.0);
        // A zero shows as a fall to the lower edge.
        let room = if points().any(|p| p.1 == 0.0) { 1.0 } else { 0.0 };
        let mut bottom = lowest.floor() - room;
        if tol > 0.0 && tol.log10() > bottom - 3.0 {
            bottom = bottom.min(tol.log10() - 0.4);
        }
        let bottom = bottom.clamp(top - MAX_DECADES, top - 1.0);
        Some(Self { right: if right > 0.0 { right * 1.02 } else { 1.0 }, bottom, top })
    }
}

/// The file without its folders, cut to a readable length.
fn short_name(problem: &str) -> String {
    let name = problem.rsplit(['/', '\\']).next().unwrap_or(problem);
    if name.chars().count() <= 60 { name.to_owned() } else { name.chars().take(59).collect::<String>() + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nonneg::Event;

    fn row(passes: f64, gap: Option<f64>, residual: Option<f64>) -> TraceRow {
        TraceRow {
            passes,
            seconds: 0.0,
            objective: None,
            lower_bound: None,
            relative_gap: gap,
            natural_residual: residual,
            support: 0,
            restarts: 0,
            event: Event::Check,
        }
    }

    fn render(trace: &[TraceRow], format: Format) -> Vec<u8> {
        let curves = Convergence { trace, method: "si-nnls", problem: "some/folder/A.npz", tol: 1e-6 };
        curves.render(format).unwrap()
    }

    /// `PLOT_DIR=/tmp/plots cargo test -p nonneg-cli plots` leaves the pictures there to look at.
    #[test]
    fn short_and_odd_traces_give_plots() {
        let long = |count: u32, rate: f64| -> Vec<TraceRow> {
            let at = |k: u32| {
                let wobble = 1.0 + 0.5 * f64::from(k % 5);
                row(
                    5.0 * f64::from(k),
                    Some(wobble * (-rate * f64::from(k)).exp()),
                    Some(1e3 * wobble * (-0.6 * rate * f64::from(k)).exp()),
                )
            };
            (0..count).map(at).collect()
        };
        let traces = [
            ("none", vec![]),
            ("unknown", vec![row(0.0, None, None), row(1.0, Some(f64::NAN), Some(f64::INFINITY))]),
            ("one", vec![row(0.0, Some(0.5), None)]),
            ("two", vec![row(0.0, None, Some(2.0)), row(3.5, Some(1e-9), Some(0.0))]),
            ("zeros", vec![row(1.0, Some(0.0), Some(0.0))]),
            ("typical", long(25, 0.6)),
            ("dense", long(400, 0.06)),
            ("huge", vec![row(0.0, Some(1e300), Some(1e-300)), row(1e7, Some(1e-300), Some(1e-310))]),
        ];
        for (name, trace) in traces {
            let svg = render(&trace, Format::Svg);
            let png = render(&trace, Format::Png);
            assert!(svg.starts_with(b"<svg") && String::from_utf8_lossy(&svg).contains("si-nnls on A.npz"), "{name}");
            assert!(png.starts_with(b"\x89PNG"), "{name}");
            if let Some(folder) = std::env::var_os("PLOT_DIR") {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), svg).unwrap();
                std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), png).unwrap();
            }
        }
    }
}
