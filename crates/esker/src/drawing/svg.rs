//! Pictures as SVG.

use std::fmt::Write;

use esker_algo::drawing::Place;

use super::scene::Scene;

/// Columns of a picture, in pixels.
const WIDTH: f64 = 1000.0;
/// The least and the greatest height, beside the width.
const HEIGHTS: [f64; 2] = [0.3, 1.4];
const MARGIN: f64 = 40.0;
/// The greatest length of one unit of places.
const UNIT_MAX: f64 = 140.0;
const LEGEND_LINE: f64 = 20.0;
/// The least and the greatest radius of a vertex of mean size.
const RADII: [f64; 2] = [1.5, 14.0];
/// Beyond so many edges there are no arrows: they would cover all.
const ARROWS_MAX: usize = 5000;

/// Light and dark, as the reader has it.
pub(super) const STYLE: &str = "
  svg { background: #ffffff; font: 12px sans-serif; }
  .edge { stroke: #555555; stroke-opacity: 0.55; fill: none; }
  .head { fill: #555555; }
  .vertex { stroke: #ffffff; }
  text { fill: #222222; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; paint-order: stroke; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181c; }
    .edge { stroke: #b0b4ba; }
    .head { fill: #b0b4ba; }
    .vertex { stroke: #16181c; }
    text { fill: #e8eaed; stroke: #16181c; }
  }";

/// A scene with places and looks.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) scene: Scene,
    pub(super) places: Vec<Place>,
    /// Of each edge, the places between its ends.
    pub(super) bends: Vec<Vec<Place>>,
    pub(super) colours: Vec<String>,
    pub(super) sizes: Vec<f64>,
    pub(super) names: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) legend: Vec<(String, String)>,
    /// The number of vertices whose names are shown, those of greatest size.
    pub(super) labels: usize,
}

/// From places to pixels.
struct Frame {
    height: f64,
    scale: f64,
    middle: Place,
}

impl Frame {
    fn around<'a>(places: impl Iterator<Item = &'a Place>) -> Self {
        let (mut least, mut most) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for place in places {
            for axis in 0..2 {
                least[axis] = least[axis].min(place[axis]);
                most[axis] = most[axis].max(place[axis]);
            }
        }
        let [wide, high] = [0, 1].map(|axis| (most[axis] - least[axis]).max(1e-9));
        let height = (WIDTH * high / wide).clamp(WIDTH * HEIGHTS[0], WIDTH * HEIGHTS[1]);
        let scale = ((WIDTH - 2.0 * MARGIN) / wide).min((height - 2.0 * MARGIN) / high).min(UNIT_MAX);
        Self { height, scale, middle: [0, 1].map(|axis| f64::midpoint(least[axis], most[axis])) }
    }

    fn pixel(&self, place: Place) -> Place {
        let [x, y] = [0, 1].map(|axis| (place[axis] - self.middle[axis]) * self.scale);
        [x + WIDTH / 2.0, y + self.height / 2.0]
    }
}

/// Writing to a `String` does not fail.
macro_rules! put {
    ($out:expr, $($words:tt)*) => { let _ = writeln!($out, $($words)*); };
}

pub(super) fn written(picture: &Figure, title: &str) -> String {
    let frame = Frame::around(picture.places.iter().chain(picture.bends.iter().flatten()));
    let pixels: Vec<Place> = picture.places.iter().map(|&place| frame.pixel(place)).collect();
    let radii = radii(picture, &frame);
    let height = frame.height + LEGEND_LINE * picture.legend.len() as f64;
    let mut out = String::new();
    put!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\">"
    );
    put!(out, "<title>{}</title>", escaped(title));
    put!(out, "<style>{STYLE}\n</style>");
    if picture.scene.is_directed {
        put!(
            out,
            "<marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 1 L8 4 L0 7 z\"/></marker>"
        );
    }
    edges(&mut out, picture, &frame, &pixels, &radii);
    vertices(&mut out, picture, &pixels, &radii);
    for ((colour, meaning), line) in picture.legend.iter().zip(0..) {
        let y = frame.height + LEGEND_LINE * f64::from(line);
        put!(out, "<circle cx=\"20\" cy=\"{y:.0}\" r=\"6\" fill=\"{colour}\"/>");
        put!(out, "<text x=\"34\" y=\"{:.0}\">{}</text>", y + 4.0, escaped(meaning));
    }
    out.push_str("</svg>\n");
    out
}

/// The radius of each vertex, in pixels.
fn radii(picture: &Figure, frame: &Frame) -> Vec<f64> {
    let room = (WIDTH * frame.height / picture.places.len() as f64).sqrt();
    let mean = (0.12 * room).clamp(RADII[0], RADII[1]);
    picture.sizes.iter().map(|size| mean * (0.5 + size.sqrt())).collect()
}

fn edges(out: &mut String, picture: &Figure, frame: &Frame, pixels: &[Place], radii: &[f64]) {
    let has_arrows = picture.scene.is_directed && picture.scene.edges.len() <= ARROWS_MAX;
    let arrow = if has_arrows { " marker-end=\"url(#to)\"" } else { "" };
    for (edge, bends) in picture.scene.edges.iter().zip(&picture.bends) {
        let (source, target) = (edge.source as usize, edge.target as usize);
        let width = (1.0 + f64::from(edge.count).log2() / 2.0).min(6.0);
        let [x, y] = pixels[source];
        if source == target {
            let r = radii[source] + 3.0;
            put!(
                out,
                "<circle class=\"edge\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{r:.1}\" stroke-width=\"{width:.1}\"/>",
                y - r
            );
            continue;
        }
        let mut path = format!("M{x:.1} {y:.1}");
        let mut last = [x, y];
        for bend in bends {
            last = frame.pixel(*bend);
            let _ = write!(path, " L{:.1} {:.1}", last[0], last[1]);
        }
        let end = short_of(last, pixels[target], radii[target] + 1.0);
        put!(
            out,
            "<path class=\"edge\" d=\"{path} L{:.1} {:.1}\" stroke-width=\"{width:.1}\"{arrow}/>",
            end[0],
            end[1]
        );
    }
}

/// The end of a line that stops before the vertex to which it leads.
fn short_of(from: Place, to: Place, gap: f64) -> Place {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    if length <= gap { to } else { [to[0] - dx * gap / length, to[1] - dy * gap / length] }
}

fn vertices(out: &mut String, picture: &Figure, pixels: &[Place], radii: &[f64]) {
    let mut by_size: Vec<usize> = (0..pixels.len()).collect();
    // Small ones last, so that large ones do not hide them.
    by_size.sort_by(|&a, &b| radii[b].total_cmp(&radii[a]));
    for &v in &by_size {
        let ([x, y], r, colour) = (pixels[v], radii[v], &picture.colours[v]);
        put!(
            out,
            "<circle class=\"vertex\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" fill=\"{colour}\"><title>{}\n{}</title></circle>",
            escaped(&picture.names[v]),
            escaped(&picture.notes[v])
        );
    }
    for &v in by_size.iter().take(picture.labels) {
        let ([x, y], r) = (pixels[v], radii[v]);
        // On the side where there is more room.
        let (side, anchor) = if x < WIDTH * 0.85 { (r + 3.0, "start") } else { (-r - 3.0, "end") };
        put!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x + side,
            y + 4.0,
            escaped(&picture.names[v])
        );
    }
}

/// Text that stays text in XML, which has no control characters.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(sign),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            sign if sign.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            sign => out.push(sign),
        }
    }
    out
}
