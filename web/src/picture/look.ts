// How each vertex and edge looks: its colour and size by what the scene says, by an answer of an algorithm, or by
// the marks of a path or a difference. And the legend that explains it.

import type { Content, Edge, Vertex } from '../content/content';
import { value } from '../dom/words';
import { groupColour, scaleColour, theme } from './colours';

/** The values of one column of an answer, for the vertices of the picture. */
export interface Paint {
    column: string;
    /** Labels of groups, rather than amounts. */
    groups: boolean;
    values: Map<string, unknown>;
    /** The largest groups of the whole answer, first; colours follow them, not what happens to be drawn. */
    ranks: Map<string, number>;
}

export interface LegendLine { text: string; colour: string }

export interface Look {
    vertexColour(vertex: Vertex): string;
    /** The radius in pixels. */
    vertexSize(vertex: Vertex): number;
    edgeColour(edge: Edge): string;
    edgeSize(edge: Edge): number;
    legend: { title: string; lines: LegendLine[]; note: string };
}

const RADIUS_MIN = 4;
const RADIUS_MAX = 15;

/** The extent of numbers. Null if there are none. */
function extent(numbers: Iterable<number>): { low: number; high: number } | null {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const number of numbers) {
        if (!Number.isFinite(number)) continue;
        low = Math.min(low, number);
        high = Math.max(high, number);
    }
    return low <= high ? { low, high } : null;
}

function numbersOf(paint: Paint): number[] {
    return [...paint.values.values()].map(Number);
}

function sizer(content: Content, paint: Paint | null): (vertex: Vertex) => number {
    const amount = (vertex: Vertex): number => (paint ? Number(paint.values.get(vertex.id) ?? Number.NaN) : vertex.size);
    const range = extent([...content.vertices.values()].map(amount));
    if (!range) return () => RADIUS_MIN + 2;
    // Areas, not radii, stand for amounts; the server's sizes are radii already. Crowded pictures get smaller circles.
    const most = content.vertices.size > 150 ? RADIUS_MAX * 0.75 : RADIUS_MAX;
    const part = (size: number): number => (paint ? Math.sqrt(Math.max(size, 0) / (range.high || 1)) : (size - range.low) / (range.high - range.low || 1));
    return (vertex) => {
        const share = part(amount(vertex));
        return Number.isFinite(share) ? RADIUS_MIN + share * (most - RADIUS_MIN) : RADIUS_MIN;
    };
}

function painted(paint: Paint): Pick<Look, 'vertexColour' | 'legend'> {
    if (paint.groups) {
        const colour = (group: unknown): string => groupColour(paint.ranks.get(String(group)) ?? Number.POSITIVE_INFINITY);
        const seen = new Set([...paint.values.values()].filter((group) => group !== undefined).map(String));
        const lines = [...paint.ranks].filter(([group, rank]) => rank < 7 && seen.has(group)).map(([group, rank]) => ({ text: group, colour: groupColour(rank) }));
        if ([...seen].some((group) => (paint.ranks.get(group) ?? 7) >= 7)) lines.push({ text: 'others', colour: theme().other });
        return { vertexColour: (vertex) => colour(paint.values.get(vertex.id)), legend: { title: paint.column, lines, note: '' } };
    }
    const range = extent(numbersOf(paint));
    const { low, high } = range ?? { low: 0, high: 1 };
    // Answers such as ranks are skewed: by their root, more than the first few differ.
    const part = (amount: number): number => Math.sqrt((amount - low) / (high - low || 1));
    const lines = [1, 0.5, 0].map((share) => ({ text: value(low + share * share * (high - low)), colour: scaleColour(share) }));
    return {
        vertexColour: (vertex) => {
            const amount = Number(paint.values.get(vertex.id) ?? Number.NaN);
            return Number.isFinite(amount) ? scaleColour(part(amount)) : theme().other;
        },
        legend: { title: paint.column, lines: high > low ? lines : lines.slice(0, 1), note: '' },
    };
}

/** A label that is a number is an end of a scale. */
function rounded(label: string): string {
    return label.trim() !== '' && Number.isFinite(Number(label)) ? value(Number(label)) : label;
}

function ofScene(content: Content, colour: string): Pick<Look, 'vertexColour' | 'legend'> {
    const lines = content.legend.map((entry) => ({ text: rounded(entry.label), colour: entry.colour }));
    const isPlain = content.legend.length === 0;
    const uncoloured = [...content.vertices.values()].some((vertex) => vertex.colour === null);
    if (!isPlain && uncoloured) lines.push({ text: 'added', colour: theme().other });
    return {
        vertexColour: (vertex) => (isPlain ? theme().plain : (vertex.colour ?? theme().other)),
        legend: { title: colour === 'communities' ? 'Communities' : colour, lines, note: '' },
    };
}

function ofDifference(content: Content): Pick<Look, 'vertexColour' | 'legend'> {
    const { marks, other } = theme();
    const signs = { added: '+ added', removed: '− removed', changed: '~ changed' } as const;
    const used = (mark: string): boolean => content.edges.some((edge) => edge.mark === mark) || [...content.vertices.values()].some((vertex) => vertex.mark === mark);
    const lines = (['added', 'removed', 'changed'] as const).filter(used).map((mark) => ({ text: signs[mark], colour: marks[mark] }));
    return { vertexColour: (vertex) => (vertex.mark ? marks[vertex.mark] : other), legend: { title: 'Difference', lines, note: '' } };
}

export function look(content: Content, options: { colour: string; difference: boolean; paintColour: Paint | null; paintSize: Paint | null }): Look {
    const { marks, edge: plainEdge } = theme();
    const base = options.difference ? ofDifference(content) : options.paintColour ? painted(options.paintColour) : ofScene(content, options.colour);
    const note = options.paintSize && !options.difference ? `Sizes: ${options.paintSize.column}` : '';
    return {
        vertexColour: base.vertexColour,
        vertexSize: sizer(content, options.difference ? null : options.paintSize),
        edgeColour: (edge) => (edge.mark ? marks[edge.mark] : plainEdge),
        // Removed edges are thinner too: width tells them apart where colours do not.
        edgeSize: (edge) => (edge.mark === 'removed' ? 1.2 : edge.mark ? 3 : Math.min(1 + Math.log2(Math.max(edge.count, 1)) * 0.5, 4)),
        legend: { ...base.legend, note },
    };
}
