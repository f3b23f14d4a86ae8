//! Panels of curves in rows, with one legend below: the way papers show how methods compare.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, power_of_ten, power_ticks};
use super::style::{LineStyle, Marker};
use super::{Drawing, FAMILY, Format, GRID, INK, render};
use crate::failure::Failure;

/// Decades shown below the largest value, and to the left of the largest cost.
const MAX_DECADES: f64 = 16.0;
const MAX_COST_DECADES: f64 = 6.0;

/// Markers on a curve.
const MARKERS: usize = 7;

/// A curve is drawn with at most so many points.
const MAX_POINTS: usize = 600;

/// Panels in rows.
#[derive(Debug)]
pub struct Grid {
    pub columns: usize,
    /// Size of one panel, in points.
    pub panel_size: (u32, u32),
    pub panels: Vec<Panel>,
    /// Below all panels.
    pub legend: Vec<(String, LineStyle)>,
}

/// One picture with logarithmic axes.
#[derive(Debug, Clone)]
pub struct Panel {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub curves: Vec<Curve>,
}

/// Points with x > 0; those with y = 0 lie on the lower edge.
#[derive(Debug, Clone)]
pub struct Curve {
    pub points: Vec<(f64, f64)>,
    pub style: LineStyle,
}

impl Grid {
    /// The file's contents.
    pub fn render(&self, format: Format) -> Result<Vec<u8>, Failure> {
        render(self, self.size(), format)
    }

    /// What one entry of the legend needs.
    pub fn legend_width(label: &str) -> u32 {
        BETWEEN + entry_width(label)
    }

    fn size(&self) -> (u32, u32) {
        let columns = self.columns.min(self.panels.len()).max(1) as u32;
        let rows = self.panels.len().div_ceil(self.columns.max(1)) as u32;
        let width = columns * self.panel_size.0;
        (width, rows * self.panel_size.1 + legend_height(&self.legend, width))
    }
}

impl Drawing for Grid {
    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        scale: u32,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        root.fill(&WHITE)?;
        let (width, height) = root.dim_in_pixel();
        let legend = legend_height(&self.legend, width / scale) * scale;
        let (body, foot) = root.split_vertically((height - legend) as i32);
        let columns = self.columns.min(self.panels.len()).max(1);
        let areas = body.split_evenly((self.panels.len().div_ceil(columns), columns));
        for (panel, area) in self.panels.iter().zip(&areas) {
            panel.draw(area, scale)?;
        }
        draw_legend(&self.legend, &foot, scale)
    }
}

fn font<'a>(size: u32, scale: u32) -> TextStyle<'a> {
    (FAMILY, size * scale).into_font().color(&INK)
}

impl Panel {
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: u32,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let (width, _) = area.dim_in_pixel();
        let centre = font(13, scale).pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new(self.title.clone(), (width as i32 / 2, 8 * scale as i32), centre))?;
        let Some(frame) = Frame::around(&self.curves) else {
            return area.draw(&Text::new("nothing to plot", (20 * scale as i32, 60 * scale as i32), font(12, scale)));
        };
        let x_axis = Axis { range: (frame.left, frame.right), ticks: power_ticks(frame.left, frame.right) };
        let y_axis = Axis { range: (frame.bottom, frame.top), ticks: power_ticks(frame.bottom, frame.top) };
        let mut chart = ChartBuilder::on(area)
            .margin_top(28 * scale)
            .margin_right(14 * scale)
            .margin_left(4 * scale)
            .margin_bottom(4 * scale)
            .x_label_area_size(36 * scale)
            .y_label_area_size(52 * scale)
            .build_cartesian_2d(x_axis, y_axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(scale))
            .axis_style(INK.stroke_width(scale))
            .label_style(font(11, scale))
            .axis_desc_style(font(12, scale))
            .x_desc(self.x_label.clone())
            .y_desc(self.y_label.clone())
            .x_label_formatter(&|x| power_of_ten(*x))
            .y_label_formatter(&|y| power_of_ten(*y))
            .set_all_tick_mark_size(4 * scale)
            .draw()?;
        let pixels = chart.plotting_area().dim_in_pixel();
        for curve in &self.curves {
            let points = frame.place(&curve.points);
            let style = curve.style.color.stroke_width(scale + scale.div_ceil(2));
            match curve.style.dash.lengths() {
                None => chart.draw_series(LineSeries::new(points.clone(), style))?,
                Some((dash, gap)) => {
                    chart.draw_series(DashedLineSeries::new(points.clone(), dash * scale, gap * scale, style))?
                }
            };
            for at in frame.spread(&points, pixels) {
                let place = chart.backend_coord(&at);
                let origin = chart.plotting_area().strip_coord_spec();
                draw_marker(&origin, place, curve.style, scale)?;
            }
        }
        Ok(())
    }
}

/// A marker at a place of the whole picture.
fn draw_marker<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    place: (i32, i32),
    style: LineStyle,
    scale: u32,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let base = area.get_base_pixel();
    let (x, y) = (place.0 - base.0, place.1 - base.1);
    let r = 3 * scale as i32 + scale as i32 / 2;
    let fill = style.color.filled();
    match style.marker {
        Marker::Circle => area.draw(&Circle::new((x, y), r, fill)),
        Marker::Square => area.draw(&Rectangle::new([(x - r + 1, y - r + 1), (x + r - 1, y + r - 1)], fill)),
        Marker::Triangle => area.draw(&Polygon::new(vec![(x - r, y + r), (x + r, y + r), (x, y - r)], fill)),
        Marker::Diamond => area.draw(&Polygon::new(vec![(x - r, y), (x, y + r), (x + r, y), (x, y - r)], fill)),
        Marker::Cross => {
            let line = style.color.stroke_width(scale + scale.div_ceil(2));
            area.draw(&PathElement::new([(x - r, y - r), (x + r, y + r)], line))?;
            area.draw(&PathElement::new([(x - r, y + r), (x + r, y - r)], line))
        }
        Marker::None => Ok(()),
    }
}

/// Points of an entry of the legend: sample, text, room; and of a line of it.
const SAMPLE: u32 = 40;
const BETWEEN: u32 = 22;
const LINE: u32 = 20;
const LEGEND_FONT: u32 = 12;

/// Sample and text, estimated at half an em for a letter and some more, so that SVG viewers with other fonts have room too.
fn entry_width(label: &str) -> u32 {
    SAMPLE + 8 + label.chars().count() as u32 * (LEGEND_FONT * 3 / 5)
}

/// Where each entry of the legend starts: (from the left, line).
fn legend_places(legend: &[(String, LineStyle)], width: u32) -> Vec<(u32, u32)> {
    let (mut left, mut line) = (BETWEEN, 0);
    let mut places = Vec::with_capacity(legend.len());
    for (label, _) in legend {
        let length = entry_width(label);
        if left > BETWEEN && left + length > width {
            (left, line) = (BETWEEN, line + 1);
        }
        places.push((left, line));
        left += length + BETWEEN;
    }
    places
}

fn legend_height(legend: &[(String, LineStyle)], width: u32) -> u32 {
    legend_places(legend, width).last().map_or(0, |&(_, line)| (line + 1) * LINE + 14)
}

fn draw_legend<B: DrawingBackend>(
    legend: &[(String, LineStyle)],
    area: &DrawingArea<B, Shift>,
    scale: u32,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let places = legend_places(legend, area.dim_in_pixel().0 / scale);
    for ((label, style), (left, line)) in legend.iter().zip(places) {
        let (left, middle) = ((left * scale) as i32, (line * LINE * scale + 14 * scale) as i32);
        let right = left + (SAMPLE * scale) as i32;
        let stroke = style.color.stroke_width(scale + scale.div_ceil(2));
        match style.dash.lengths() {
            None => area.draw(&PathElement::new([(left, middle), (right, middle)], stroke))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new([(left, middle), (right, middle)], dash * scale, gap * scale, stroke))?
            }
        }
        let base = area.get_base_pixel();
        draw_marker(area, (base.0 + (left + right) / 2, base.1 + middle), *style, scale)?;
        let text = font(LEGEND_FONT, scale).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(label.clone(), (right + 8 * scale as i32, middle), text))?;
    }
    Ok(())
}

/// The part of the plane that is shown, in powers of ten.
#[derive(Debug, PartialEq)]
struct Frame {
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
}

impl Frame {
    fn around(curves: &[Curve]) -> Option<Self> {
        let points = || curves.iter().flat_map(|curve| &curve.points).filter(|p| drawable(p));
        let costs = || points().map(|p| p.0.log10());
        let values = || points().filter(|p| p.1 > 0.0).map(|p| p.1.log10());
        let right = costs().reduce(f64::max)?;
        let left = costs().reduce(f64::min)?.max(right - MAX_COST_DECADES);
        let top = values().reduce(f64::max).unwrap_or(0.0);
        let mut bottom = values().reduce(f64::min).unwrap_or(top - 1.0);
        if points().any(|p| p.1 == 0.0) {
            bottom -= 0.5; // a zero shows as a fall to the lower edge
        }
        let bottom = bottom.max(top - MAX_DECADES).min(top - 1.0);
        // A little air, and at least one tick across.
        let (left, right) = (left - 0.03 * (right - left), right + 0.03 * (right - left));
        let (left, right) =
            if right.floor() > left.ceil() { (left, right) } else { (left.floor(), right.ceil().max(left.floor() + 1.0)) };
        Some(Self { left, right, bottom: bottom - 0.2, top: top + 0.2 })
    }

    /// In the chart's coordinates, thinned to what can be seen.
    fn place(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let place = |p: &&(f64, f64)| (p.0.log10().clamp(self.left, self.right), p.1.log10().clamp(self.bottom, self.top));
        let all: Vec<(f64, f64)> = points.iter().filter(|p| drawable(p)).map(|p| place(&p)).collect();
        let closest = (self.right - self.left) / MAX_POINTS as f64;
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for (k, &point) in all.iter().enumerate() {
            let last = k + 1 == all.len();
            if last || kept.last().is_none_or(|before| (point.0 - before.0).abs() + (point.1 - before.1).abs() >= closest) {
                kept.push(point);
            }
        }
        kept
    }

    /// Some of the points, evenly along the curve as it is seen.
    fn spread(&self, points: &[(f64, f64)], (width, height): (u32, u32)) -> Vec<(f64, f64)> {
        let across = f64::from(width) / (self.right - self.left);
        let down = f64::from(height) / (self.top - self.bottom);
        let step = |a: &(f64, f64), b: &(f64, f64)| ((a.0 - b.0) * across).hypot((a.1 - b.1) * down);
        let total: f64 = points.windows(2).map(|pair| step(&pair[0], &pair[1])).sum();
        let apart = total / MARKERS as f64;
        let (mut walked, mut next) = (0.0, 0.5 * apart);
        let mut chosen = Vec::new();
        for pair in points.windows(2) {
            walked += step(&pair[0], &pair[1]);
            if walked >= next {
                chosen.push(pair[1]);
                next = walked + apart;
            }
        }
        if chosen.is_empty() {
            chosen.extend(points.last());
        }
        chosen
    }
}

fn drawable(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.0 > 0.0 && point.1.is_finite() && point.1 >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(index: usize, points: Vec<(f64, f64)>) -> Curve {
        Curve { points, style: LineStyle::of(index) }
    }

    fn panel(curves: Vec<Curve>) -> Panel {
        Panel { title: "a panel".into(), x_label: "passes over A".into(), y_label: "gap".into(), curves }
    }

    fn grid(columns: usize, panels: Vec<Panel>) -> Grid {
        let legend = (0..11).map(|k| (format!("method {k}, with a name of some length"), LineStyle::of(k))).collect();
        Grid { columns, panel_size: (330, 250), panels, legend }
    }

    /// `PLOT_DIR=/tmp/plots cargo test -p nonneg-cli grids` leaves the pictures there to look at.
    #[test]
    fn grids_of_any_curves_give_pictures() {
        let fall = |k: usize| (1..400).map(|i| (f64::from(i), 10f64.powf(-f64::from(i) / (20.0 + 30.0 * k as f64)))).collect();
        let typical = panel((0..11).map(|k| curve(k, fall(k))).collect());
        let odd = vec![
            panel(vec![]),
            panel(vec![curve(0, vec![(0.0, 1.0)])]),
            panel(vec![curve(1, vec![(1.0, 1.0)])]),
            panel(vec![curve(2, vec![(1.0, 0.0), (2.0, 0.0)])]),
            panel(vec![curve(3, vec![(1.0, f64::NAN), (2.0, f64::INFINITY), (-1.0, 2.0)])]),
            panel(vec![curve(4, vec![(1e-300, 1e300), (1e300, 1e-300)])]),
        ];
        for (name, grid) in [
            ("grid", grid(4, vec![typical.clone(); 12])),
            ("odd", grid(3, odd)),
            ("one", grid(1, vec![typical])),
            ("none", grid(2, vec![])),
        ] {
            let (svg, png) = (grid.render(Format::Svg).unwrap(), grid.render(Format::Png).unwrap());
            let text = String::from_utf8(svg.clone()).unwrap();
            assert!(text.starts_with("<svg") && text.contains("viewBox") && text.trim_end().ends_with("</svg>"), "{name}");
            assert!(png.starts_with(b"\x89PNG"), "{name}");
            if let Some(folder) = std::env::var_os("PLOT_DIR") {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), svg).unwrap();
                std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), png).unwrap();
            }
        }
    }

    #[test]
    fn long_curves_are_thinned_and_markers_spread() {
        let frame = Frame { left: 0.0, right: 4.0, bottom: -10.0, top: 0.0 };
        let points: Vec<(f64, f64)> = (1..10_000).map(|k| (f64::from(k), 1.0 / f64::from(k))).collect();
        let placed = frame.place(&points);
        assert!(placed.len() < 2 * MAX_POINTS && placed.last() == Some(&(9999f64.log10(), -(9999f64.log10()))));
        assert!((4..=MARKERS).contains(&frame.spread(&placed, (300, 200)).len()));
    }

    #[test]
    fn the_legend_fits_the_width() {
        let grid = grid(4, vec![]);
        for width in [300, 700, 1320] {
            for ((label, _), (left, _)) in grid.legend.iter().zip(legend_places(&grid.legend, width)) {
                assert!(left == BETWEEN || left + entry_width(label) <= width, "{label} at {left} of {width}");
            }
        }
        assert!(legend_height(&grid.legend, 300) > legend_height(&grid.legend, 1320));
        assert_eq!(legend_height(&[], 300), 0);
    }
}
