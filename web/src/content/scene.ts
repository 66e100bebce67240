// The picture of the whole, or of what is around some vertices, as the server places it.

import { remembered } from '../api/client';
import type { Database, Scene } from '../api/types';
import { type State, storedSelection } from '../state/state';
import { type Content, empty } from './content';

export async function loadScene(state: State, database: Database, signal: AbortSignal): Promise<Content> {
    const scene = await remembered<Scene>('scene', {
        ...storedSelection(state, database.latest),
        ego: state.focus,
        hops: state.focus.length > 0 ? state.hops : null,
        vertices: state.vertices,
        layout: state.layout,
        colour: state.colour,
        size: state.size,
    }, signal);
    const content = empty();
    for (const vertex of scene.vertices) {
        const { id, x, y, size, group, colour, degree, properties } = vertex;
        content.vertices.set(id, { id, x, y, size, group, colour, degree, properties: properties ?? {}, mark: null });
    }
    for (const edge of scene.edges) {
        const source = scene.vertices[edge.source]?.id;
        const target = scene.vertices[edge.target]?.id;
        if (source !== undefined && target !== undefined) {
            content.edges.push({ source, target, count: edge.count, weight: edge.weight, mark: null });
        }
    }
    content.legend = scene.legend ?? [];
    content.found = scene.found;
    return content;
}
