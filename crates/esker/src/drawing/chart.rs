//! Charts as SVG: how values are distributed, and how figures change.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::look::COLOURS;
use super::svg::{STYLE, escaped};

/// The whole chart, in pixels.
const SIZE: [f64; 2] = [720.0, 440.0];
/// Room on the left and the right, above and below the points.
const ROOM: [[f64; 2]; 2] = [[80.0, 24.0], [48.0, 56.0]];
/// Marks of an axis whose steps are equal, or so.
const MARKS: f64 = 5.0;
/// Lines with no more points than this show each of them.
const DOTS_MAX: usize = 200;

/// Points over two axes.
///
/// ```
/// use esker::drawing::Chart;
///
/// let chart = Chart::of_counts("Degrees", ["edges of a vertex", "vertices"], [1, 1, 2, 7, 0].into_iter());
/// assert_eq!(chart.lines[0].points, [[1.0, 2.0], [2.0, 1.0], [7.0, 1.0]]);
/// assert!(chart.svg().contains("<title>Degrees (without 1 of value 0)</title>"), "zeros have no logarithm");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// What the horizontal and the vertical axis stand for.
    pub axes: [String; 2],
    /// What is drawn; both places of a point are whole numbers.
    pub lines: Vec<ChartLine>,
    /// Whether the axes show orders of magnitude, and points stand alone. No value is zero then.
    pub is_logarithmic: bool,
}

/// Points with a common colour, in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartLine {
    /// What they are; shown if there are several lines.
    pub name: String,
    /// Places by the two axes.
    pub points: Vec<[f64; 2]>,
}

impl Chart {
    /// How often each value occurs, by orders of magnitude. Zeros, which have none, are counted in the title.
    pub fn of_counts(title: &str, axes: [&str; 2], values: impl Iterator<Item = u64>) -> Self {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        values.for_each(|value| *counts.entry(value).or_default() += 1);
        let zeros = counts.remove(&0).map(|zeros| format!(" (without {zeros} of value 0)"));
        let points = counts.into_iter().map(|(value, count)| [value as f64, count as f64]).collect();
        let lines = vec![ChartLine { name: axes[1].to_owned(), points }];
        let (title, axes) = (format!("{title}{}", zeros.unwrap_or_default()), axes.map(str::to_owned));
        Self { title, axes, lines, is_logarithmic: true }
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let scales = [0, 1].map(|axis| self.scale(axis));
        let mut out = String::new();
        let [width, height] = SIZE;
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{0}</title>\n<style>{STYLE}\n</style>\n\
             <text x=\"{1:.0}\" y=\"24\" text-anchor=\"middle\">{0}</text>",
            escaped(&self.title),
            width / 2.0,
        );
        self.draw_axes(&mut out, &scales);
        if self.lines.iter().all(|line| line.points.is_empty()) {
            let [x, y] = SIZE.map(|size| size / 2.0);
            let _ = writeln!(
                out,
                "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">nothing to show</text>"
            );
        }
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            draw_line(&mut out, line, colour, &scales, self.is_logarithmic);
        }
        if self.lines.len() > 1 {
            for ((line, colour), place) in self.lines.iter().zip(COLOURS.iter().cycle()).zip(0..) {
                let (x, y) = (ROOM[0][0] + 14.0, ROOM[1][0] + 12.0 + 18.0 * f64::from(place));
                let name = escaped(&line.name);
                let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{colour}\"/>");
                let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{name}</text>", x + 12.0, y + 4.0);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    fn scale(&self, axis: usize) -> AxisScale {
        let values = self.lines.iter().flat_map(|line| &line.points).map(|point| point[axis]);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        values.for_each(|value| (least, most) = (least.min(value), most.max(value)));
        let is_empty = least > most;
        let ends = match (self.is_logarithmic, is_empty) {
            (true, true) => [0.0, 1.0],
            (true, false) => [least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0)],
            (false, true) => [0.0, 1.0],
            // Heights are compared from zero; along the other axis, points begin where they do.
            (false, false) if axis == 1 => [least.min(0.0), most.max(least.min(0.0) + 1.0)],
            (false, false) => [least, most.max(least + 1.0)],
        };
        AxisScale { axis, ends, is_logarithmic: self.is_logarithmic }
    }

    fn draw_axes(&self, out: &mut String, scales: &[AxisScale; 2]) {
        let [[left, right], [top, bottom]] =
            [scales[0].pixels(), scales[1].pixels()].map(|[a, b]| [a.min(b), a.max(b)]);
        for mark in scales[0].marks() {
            let (x, shown) = (scales[0].pixel(mark), shown(mark));
            let _ = writeln!(
                out,
                "<path class=\"edge\" d=\"M{x:.1} {top:.1} V{bottom:.1}\" stroke-width=\"0.3\"/>"
            );
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{shown}</text>",
                bottom + 18.0
            );
        }
        for mark in scales[1].marks() {
            let (y, shown) = (scales[1].pixel(mark), shown(mark));
            let _ = writeln!(
                out,
                "<path class=\"edge\" d=\"M{left:.1} {y:.1} H{right:.1}\" stroke-width=\"0.3\"/>"
            );
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{shown}</text>",
                left - 6.0,
                y + 4.0
            );
        }
        let [across, up] = [0, 1].map(|axis| escaped(&self.axes[axis]));
        let (middle, below) = (f64::midpoint(left, right), SIZE[1] - 12.0);
        let _ =
            writeln!(out, "<text x=\"{middle:.0}\" y=\"{below:.0}\" text-anchor=\"middle\">{across}</text>");
        let _ = writeln!(out, "<text x=\"12\" y=\"{:.0}\">{up}</text>", top - 8.0);
    }
}

fn draw_line(out: &mut String, line: &ChartLine, colour: &str, scales: &[AxisScale; 2], is_alone: bool) {
    let pixels: Vec<[f64; 2]> =
        line.points.iter().map(|point| [0, 1].map(|axis| scales[axis].pixel(point[axis]))).collect();
    if !is_alone && pixels.len() > 1 {
        let corners: Vec<String> = pixels.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let corners = corners.join(" ");
        let _ = writeln!(
            out,
            "<polyline points=\"{corners}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
    }
    if is_alone || pixels.len() <= DOTS_MAX {
        for ([x, y], [across, up]) in pixels.iter().zip(&line.points) {
            let (across, up) = (shown(*across), shown(*up));
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{across}: {up}</title></circle>"
            );
        }
    }
}

/// From values of an axis to pixels.
struct AxisScale {
    axis: usize,
    /// The least and the greatest; of a logarithmic axis, their powers of ten.
    ends: [f64; 2],
    is_logarithmic: bool,
}

impl AxisScale {
    /// Where the ends are.
    fn pixels(&self) -> [f64; 2] {
        let [before, behind] = ROOM[self.axis];
        let (first, last) = (before, SIZE[self.axis] - behind);
        // Pixels are counted from the top.
        if self.axis == 0 { [first, last] } else { [last, first] }
    }

    fn pixel(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.log10() } else { value };
        let ([least, most], [first, last]) = (self.ends, self.pixels());
        first + (value - least) / (most - least) * (last - first)
    }

    /// Values with a mark: powers of ten, or round numbers at equal steps.
    fn marks(&self) -> Vec<f64> {
        let [least, most] = self.ends;
        if self.is_logarithmic {
            return (least as i32..=most as i32).map(|power| 10_f64.powi(power)).collect();
        }
        let rough = (most - least) / MARKS;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * unit).find(|&step| step >= rough);
        // All figures are counts, and versions are numbers.
        let step = step.unwrap_or(rough).max(1.0);
        let (first, last) = ((least / step).ceil() as i64, (most / step).floor() as i64);
        (first..=last).map(|place| place as f64 * step).collect()
    }
}

/// A number with no more digits than it needs.
fn shown(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[[f64; 2]]) -> ChartLine {
        ChartLine { name: "a < b".to_owned(), points: points.to_vec() }
    }

    #[test]
    fn marks_are_round_and_points_lie_between_the_ends() {
        let axes = ["x", "y"].map(str::to_owned);
        let lines = vec![line(&[[3.0, 0.0], [57.0, 1234.0]])];
        let chart = Chart { title: "t".to_owned(), axes, lines, is_logarithmic: false };
        let [across, up] = [0, 1].map(|axis| chart.scale(axis));
        assert_eq!(across.marks(), [20.0, 40.0]);
        assert_eq!(up.marks(), [0.0, 500.0, 1000.0]);
        assert_eq!([across.pixel(3.0), across.pixel(57.0)], [80.0, 696.0]);
        let few = Chart { lines: vec![line(&[[1.0, 0.0], [3.0, 2.0]])], ..chart.clone() };
        assert_eq!([0, 1].map(|axis| few.scale(axis).marks()), [vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 2.0]]);
        assert_eq!([up.pixel(0.0), up.pixel(1234.0)], [384.0, 48.0]);
    }

    #[test]
    fn distributions_are_drawn_by_orders_of_magnitude() {
        let chart = Chart::of_counts("T", ["x", "y"], [1, 1, 1, 500, 0, 0].into_iter());
        assert_eq!(chart.title, "T (without 2 of value 0)");
        let scale = chart.scale(0);
        assert_eq!(scale.marks(), [1.0, 10.0, 100.0, 1000.0]);
        let svg = chart.svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("<title>500: 1</title>") && !svg.contains("polyline"), "{svg}");
    }

    #[test]
    fn charts_of_nothing_and_of_one_value_have_no_gaps_in_their_numbers() {
        let axes = || ["x", "y"].map(str::to_owned);
        for (points, is_logarithmic) in
            [(&[][..], true), (&[][..], false), (&[[5.0, 5.0]][..], true), (&[[5.0, 5.0]][..], false)]
        {
            let lines = vec![line(points), line(points)];
            let svg = Chart { title: "t".to_owned(), axes: axes(), lines, is_logarithmic }.svg();
            assert_eq!(svg.contains("nothing to show"), points.is_empty());
            assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.contains("a &lt; b"), "{svg}");
        }
    }
}
