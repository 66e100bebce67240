// Marks the shortest path between two vertices in a content, and adds what of it is not there.

import { remembered } from '../api/client';
import type { Database, Path } from '../api/types';
import { several, value } from '../dom/words';
import { type Pair, type State, selection } from '../state/state';
import { type Content, EdgeIndex, newVertex } from './content';
import { relax, spacing, spiral } from './forces';

export async function addPath(content: Content, pair: Pair, state: State, database: Database, signal: AbortSignal): Promise<void> {
    const path = await remembered<Path>('path', { ...selection(state, database.latest), ...pair, weight: state.length }, signal);
    if (!path.found) {
        content.note = `No path leads from ${pair.from} to ${pair.to}.`;
        return;
    }
    const step = spacing(content);
    const index = new EdgeIndex(content, database.directed);
    const added = [];
    let before: { x: number; y: number } = { x: 0, y: 0 };
    for (const id of path.vertices) {
        let vertex = content.vertices.get(id);
        if (!vertex) {
            vertex = newVertex(id, null, {});
            content.vertices.set(id, vertex);
            spiral([vertex], { x: before.x + step * 0.5, y: before.y + step * 0.5 }, step);
            added.push(vertex);
        }
        vertex.mark = 'path';
        before = vertex;
    }
    for (const edge of path.edges) index.add(edge.source, edge.target, edge.count ?? 1, edge.weight).mark = 'path';
    relax(content, added, step, 80);
    const steps = several(path.edges.length, 'step');
    const length = state.length !== null && path.length !== null ? `, length ${value(path.length)}` : '';
    content.note = `${steps}${length}: ${path.vertices.join(' → ')}`;
}
