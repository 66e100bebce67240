// Saves the picture as it is on the screen, as SVG or PNG. Both come from one list of shapes: the pixels of WebGL
// are gone after they were shown, and an SVG as an image would need an exception from the page's security policy.

import type { Database } from '../api/types';
import type { Content } from '../content/content';
import { el, svg } from '../dom/element';
import { theme } from './colours';
import { LabelRoom, shortened } from './labels';
import type { Look } from './look';
import type { Picture } from './picture';

type Place = { x: number; y: number; radius: number };
type Point = { x: number; y: number };
interface Line { from: Place; to: Point; colour: string; width: number; tip: Point[] | null }
interface Circle { at: Place; colour: string; id: string; label: string; named: boolean }
interface Shapes { width: number; height: number; lines: Line[]; circles: Circle[]; legend: { text: string; colour: string }[] }

const PIXELS = 2; // PNG has twice the resolution of the screen
const FONT = 'system-ui, sans-serif';
const LETTER = 7; // pixels, about the width of a letter

/** A line to the rim of a vertex, with a tip if it has a direction and room for one. */
function line(from: Place, to: Place, colour: string, width: number, directed: boolean): Line {
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    const size = 4 + width * 2;
    if (!directed || length < to.radius + size) return { from, to, colour, width, tip: null };
    const [x, y] = [(to.x - from.x) / length, (to.y - from.y) / length];
    const end = { x: to.x - x * to.radius, y: to.y - y * to.radius };
    const base = { x: end.x - x * size, y: end.y - y * size };
    const half = size * 0.4;
    return { from, to: base, colour, width, tip: [end, { x: base.x - y * half, y: base.y + x * half }, { x: base.x + y * half, y: base.y - x * half }] };
}

function shapes(content: Content, look: Look, picture: Picture, directed: boolean): Shapes {
    const places = new Map<string, Place>();
    for (const id of content.vertices.keys()) {
        const place = picture.toScreen(id);
        if (place) places.set(id, place);
    }
    const lines = content.edges.flatMap((edge) => {
        const [from, to] = [places.get(edge.source), places.get(edge.target)];
        return from && to ? [line(from, to, look.edgeColour(edge), look.edgeSize(edge), directed)] : [];
    });
    const vertices = [...content.vertices.values()].sort((a, b) => look.vertexSize(b) - look.vertexSize(a));
    const room = new LabelRoom();
    const circles = vertices.flatMap((vertex) => {
        const at = places.get(vertex.id);
        if (!at) return [];
        const label = shortened(vertex.id);
        const named = room.take(at.x + at.radius, at.y, label.length * LETTER, 14, vertex.mark === 'path');
        return [{ at, colour: look.vertexColour(vertex), id: vertex.id, label, named }];
    });
    return { ...picture.screen(), lines, circles, legend: look.legend.lines };
}

function asSvg({ width, height, lines, circles, legend }: Shapes): Blob {
    const { text, ground } = theme();
    const root = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': FONT, 'font-size': 12 },
        svg('rect', { width, height, fill: ground }),
        ...lines.map(({ from, to, colour, width: stroke }) =>
            svg('line', { x1: from.x.toFixed(1), y1: from.y.toFixed(1), x2: to.x.toFixed(1), y2: to.y.toFixed(1), stroke: colour, 'stroke-width': stroke })),
        ...lines.flatMap(({ tip, colour }) => (tip ? [svg('polygon', { points: tip.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '), fill: colour })] : [])),
        ...circles.map(({ at, colour, id }) =>
            svg('circle', { cx: at.x.toFixed(1), cy: at.y.toFixed(1), r: at.radius.toFixed(1), fill: colour, stroke: ground, 'stroke-width': 0.7 }, svg('title', {}, id))),
        ...circles.filter((circle) => circle.named).map(({ at, label }) =>
            svg('text', { x: (at.x + at.radius + 3).toFixed(1), y: (at.y + 4).toFixed(1), fill: text, stroke: ground, 'stroke-width': 3, 'paint-order': 'stroke' }, label)),
        ...legend.flatMap(({ text: words, colour }, row) => [
            svg('circle', { cx: 18, cy: 20 + row * 18, r: 6, fill: colour }), svg('text', { x: 30, y: 24 + row * 18, fill: text }, words)]));
    return new Blob([new XMLSerializer().serializeToString(root)], { type: 'image/svg+xml' });
}

function asPng({ width, height, lines, circles, legend }: Shapes): Promise<Blob | null> {
    const canvas = el('canvas', { width: width * PIXELS, height: height * PIXELS });
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const { text, ground } = theme();
    const disc = (x: number, y: number, radius: number, colour: string): void => {
        context.fillStyle = colour;
        context.beginPath();
        context.arc(x, y, radius, 0, Math.PI * 2);
        context.fill();
    };
    context.scale(PIXELS, PIXELS);
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    for (const { from, to, colour, width: stroke, tip } of lines) {
        context.strokeStyle = colour;
        context.lineWidth = stroke;
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
        context.stroke();
        if (!tip) continue;
        context.fillStyle = colour;
        context.beginPath();
        for (const { x, y } of tip) context.lineTo(x, y);
        context.fill();
    }
    for (const { at, colour } of circles) disc(at.x, at.y, at.radius, colour);
    context.font = `12px ${FONT}`;
    context.lineWidth = 3;
    context.strokeStyle = ground;
    for (const { at, label } of circles.filter((circle) => circle.named)) {
        context.strokeText(label, at.x + at.radius + 3, at.y + 4);
        context.fillStyle = text;
        context.fillText(label, at.x + at.radius + 3, at.y + 4);
    }
    legend.forEach(({ text: words, colour }, row) => {
        disc(18, 20 + row * 18, 6, colour);
        context.fillStyle = text;
        context.fillText(words, 30, 24 + row * 18);
    });
    return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

export async function save(form: 'svg' | 'png', { name, directed }: Database, content: Content, look: Look, picture: Picture): Promise<void> {
    const drawn = shapes(content, look, picture, directed);
    const blob = form === 'svg' ? asSvg(drawn) : await asPng(drawn);
    if (!blob) throw new Error('The browser could not make the picture.');
    const link = el('a', { href: URL.createObjectURL(blob), download: `${name}.${form}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
