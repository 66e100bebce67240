// The difference of two versions as a content: the edges that were added, removed or changed, and their ends.

import { remembered } from '../api/client';
import type { Change, Database, Difference } from '../api/types';
import { count, several } from '../dom/words';
import { type Pair, type State, selection } from '../state/state';
import { type Content, EdgeIndex, type Mark, empty, newVertex } from './content';
import { relax, spiral } from './forces';

const CHANGES_MAX = 500;

export async function loadDifference(pair: Pair, state: State, database: Database, signal: AbortSignal): Promise<Content> {
    const { where, kind } = selection(state, database.latest);
    const answer = await remembered<Difference>('diff', { ...pair, where, kind, limit: CHANGES_MAX }, signal);
    const content = empty();
    const index = new EdgeIndex(content, database.directed);
    for (const mark of ['added', 'removed', 'changed'] as const) for (const change of answer[mark]) draw(content, index, change, mark);
    size(content);
    const vertices = [...content.vertices.values()].sort((a, b) => (b.degree ?? 0) - (a.degree ?? 0));
    spiral(vertices, { x: 0, y: 0 }, 100);
    relax(content, vertices, 100, 150);
    const parts = (['added', 'removed', 'changed'] as const).map((mark) => `${count(answer[mark].length)} ${mark}`).join(', ');
    const cut = answer.shown < answer.found ? `of the first ${count(answer.shown)} of ${several(answer.found, 'change')}, ` : '';
    content.note = `From version ${pair.from} to ${pair.to}: ${cut}${parts}.`;
    content.measure = answer.shown < answer.found
        ? `${count(answer.shown)} of ${several(answer.found, 'change')} shown` : `all ${several(answer.found, 'change')} shown`;
    return content;
}

function draw(content: Content, index: EdgeIndex, change: Change, mark: Mark): void {
    if (change.vertex !== undefined) {
        end(content, change.vertex).mark = mark;
    } else if (change.source !== undefined && change.target !== undefined) {
        end(content, change.source);
        end(content, change.target);
        index.add(change.source, change.target).mark = mark;
    }
}

function end(content: Content, id: string) {
    const known = content.vertices.get(id);
    if (known) return known;
    const vertex = newVertex(id, null, {});
    content.vertices.set(id, vertex);
    return vertex;
}

/** Vertices are as large as they have changed edges. */
function size(content: Content): void {
    const changes = new Map<string, number>();
    for (const edge of content.edges) {
        for (const id of new Set([edge.source, edge.target])) changes.set(id, (changes.get(id) ?? 0) + 1);
    }
    for (const vertex of content.vertices.values()) {
        vertex.size = 1 + Math.sqrt(changes.get(vertex.id) ?? 0);
        vertex.degree = null;
    }
}
