// The content of a state: a scene with what was expanded and the path, or the difference of two versions.

import { Refusal, getJson } from '../api/client';
import type { Database } from '../api/types';
import { type State, differs, halfOf, selection } from '../state/state';
import type { Content } from './content';
import { loadDifference } from './difference';
import { expand, joinAll } from './expand';
import { addPath } from './route';
import { loadScene } from './scene';

const MEMBERS = ['focus', 'hops', 'expanded', 'at', 'window', 'where', 'kind', 'reverse', 'undirected', 'vertices', 'neighbors',
    'direction', 'layout', 'colour', 'size', 'path', 'length', 'difference'] as const;

/** Those conditions that the server refuses, with its words: each is asked for alone. */
export async function wrongConditions(state: State, database: Database, signal: AbortSignal): Promise<Map<string, string>> {
    const wrong = new Map<string, string>();
    const { at } = selection(state, database.latest);
    for (const where of state.where) {
        try {
            if (state.difference) await getJson('diff', { ...state.difference, where, limit: 1 }, signal);
            else await getJson('scene', { at, where, vertices: 1 }, signal);
        } catch (error) {
            if (error instanceof Refusal && error.status === 400) wrong.set(where, error.message);
        }
    }
    return wrong;
}

/** Whether a change of the state changes the content. */
export function changesContent(state: State, before: State): boolean {
    return differs(state, before, MEMBERS);
}

export async function load(state: State, database: Database, signal: AbortSignal): Promise<Content> {
    if (state.difference) return loadDifference(state.difference, state, database, signal);
    const content = await loadScene(state, database, signal);
    for (const id of state.expanded) await expand(content, id, state, database, signal);
    if (state.expanded.length > 0) await joinAll(content, state, database, signal);
    if (state.path && !halfOf(state.path)) {
        try {
            await addPath(content, state.path, state, database, signal);
        } catch (error) {
            // An end that is no vertex of this version: the rest of the picture stays.
            if (!(error instanceof Refusal)) throw error;
            content.note = error.message;
        }
    }
    return content;
}
