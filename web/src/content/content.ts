// What is drawn and listed: vertices with places, edges between them. Made of answers of the server by the other
// files of this folder; shown by `picture` and by the table.

import type { LegendEntry, Properties } from '../api/types';

export type Mark = 'path' | 'added' | 'removed' | 'changed';

export interface Vertex {
    id: string;
    x: number;
    y: number;
    size: number;
    group: unknown;
    /** The server's colour; null of a vertex that came later and shares no value with one of the scene. */
    colour: string | null;
    /** Null where no answer told it. */
    degree: number | null;
    properties: Properties;
    mark: Mark | null;
}

export interface Edge {
    source: string;
    target: string;
    count: number;
    weight?: number;
    mark: Mark | null;
}

/** Of an expanded vertex: how many of its neighbours are drawn, of how many, and how many were not before. */
export interface Expansion { shown: number; found: number; added: number }

export interface Content {
    vertices: Map<string, Vertex>;
    edges: Edge[];
    legend: LegendEntry[];
    /** How many there are of what is shown: vertices, or changes of a difference. */
    found: number;
    /** What is shown of the changes of a difference, in words. */
    measure: string;
    expansions: Map<string, Expansion>;
    /** The path or the difference in words. */
    note: string;
}

export function empty(): Content {
    return { vertices: new Map(), edges: [], legend: [], found: 0, measure: '', expansions: new Map(), note: '' };
}

/** A vertex without a place yet. */
export function newVertex(id: string, degree: number | null, properties: Properties): Vertex {
    return { id, x: 0, y: 0, size: 1, group: null, colour: null, degree, properties, mark: null };
}

/** The edges of a content by their ends, to find and to add without repeats. */
export class EdgeIndex {
    private readonly places = new Map<string, Edge>();

    constructor(private readonly content: Content, private readonly directed: boolean) {
        for (const edge of content.edges) this.places.set(this.key(edge.source, edge.target), edge);
    }

    private key(source: string, target: string): string {
        // Ids may hold any character, so the length separates them.
        return this.directed || source <= target ? `${source.length}:${source}${target}` : `${target.length}:${target}${source}`;
    }

    find(source: string, target: string): Edge | undefined {
        return this.places.get(this.key(source, target));
    }

    /** The edge between two vertices, added if it is new. */
    add(source: string, target: string, count = 1, weight?: number): Edge {
        const known = this.find(source, target);
        if (known) return known;
        const edge: Edge = { source, target, count, weight, mark: null };
        this.places.set(this.key(source, target), edge);
        this.content.edges.push(edge);
        return edge;
    }
}
