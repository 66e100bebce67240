// Adds the neighbours of a vertex to a content, at most as many as the state allows, those with most edges first.

import { remembered, sendJson } from '../api/client';
import type { Database, Neighbors, Subgraph } from '../api/types';
import { count } from '../dom/words';
import { type State, body as bodyOf, storedSelection } from '../state/state';
import { type Content, type Expansion, EdgeIndex, newVertex } from './content';
import { relax, spacing, spiral } from './forces';

/** The server takes no more ids a call. */
const SUBGRAPH_MAX = 2000;

export function neighborsOf(id: string, state: State, database: Database, signal?: AbortSignal): Promise<Neighbors> {
    const { direction, neighbors: limit } = state;
    return remembered<Neighbors>('neighbors', { ...storedSelection(state, database.latest), id, direction: database.directed ? direction : 'both', limit, sort: 'degree' }, signal);
}

/** Says that an expansion has nothing to add. */
export function allDrawn(id: string, { shown, found }: Expansion): string {
    if (found === 0) return `${id} has no neighbours.`;
    return shown < found
        ? `${count(shown)} of ${count(found)} neighbours of ${id} are drawn already; “Neighbours at most” allows no more.`
        : `All neighbours of ${id} are drawn already.`;
}

export async function expand(content: Content, id: string, state: State, database: Database, signal: AbortSignal): Promise<void> {
    const answer = await neighborsOf(id, state, database, signal);
    const step = spacing(content);
    const index = new EdgeIndex(content, database.directed);
    let middle = content.vertices.get(id);
    if (!middle) {
        middle = newVertex(id, answer.found, {});
        content.vertices.set(id, middle);
    }
    const known = coloured(content, state.colour);
    const added = [];
    for (const neighbor of answer.neighbors) {
        if (!content.vertices.has(neighbor.id)) {
            const vertex = newVertex(neighbor.id, neighbor.degree, neighbor.vertex_properties ?? {});
            Object.assign(vertex, known.get(JSON.stringify(vertex.properties[state.colour] ?? null)));
            vertex.size = sizeOf(content, neighbor.degree);
            content.vertices.set(neighbor.id, vertex);
            added.push(vertex);
        }
        const [source, target] = neighbor.direction === 'in' ? [neighbor.id, id] : [id, neighbor.id];
        index.add(source, target, neighbor.count, neighbor.weight);
    }
    content.expansions.set(id, { shown: answer.shown, found: answer.found, added: added.length });
    spiral(added, middle, step);
    relax(content, added, step, 80);
}

/** Adds the edges among all vertices of a content: those between neighbours of different vertices are not known yet. */
export async function joinAll(content: Content, state: State, database: Database, signal: AbortSignal): Promise<void> {
    const vertices = [...content.vertices.keys()].slice(0, SUBGRAPH_MAX);
    const body = { vertices, selection: bodyOf(storedSelection(state, database.latest)) };
    const answer = await sendJson<Subgraph>('POST', 'subgraph', body, signal);
    const index = new EdgeIndex(content, database.directed);
    for (const edge of answer.edges) {
        if (content.vertices.has(edge.source) && content.vertices.has(edge.target)) {
            index.add(edge.source, edge.target, edge.count ?? 1, edge.weight);
        }
    }
}

/** The groups and colours of the values of a property, of the vertices that the server coloured. */
function coloured(content: Content, property: string): Map<string, { group: unknown; colour: string | null }> {
    const known = new Map();
    for (const { properties, group, colour } of content.vertices.values()) {
        if (colour !== null && property in properties) known.set(JSON.stringify(properties[property]), { group, colour });
    }
    return known;
}

/** The size of a vertex that the server did not size: that of the drawn vertex whose degree is nearest. */
function sizeOf(content: Content, degree: number): number {
    let best = { size: 1, distance: Number.POSITIVE_INFINITY };
    for (const vertex of content.vertices.values()) {
        if (vertex.degree === null) continue;
        const distance = Math.abs(vertex.degree - degree);
        if (distance < best.distance) best = { size: vertex.size, distance };
    }
    return best.size;
}
