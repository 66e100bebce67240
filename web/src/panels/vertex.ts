// The selected vertex: degrees, properties, neighbours, and what can be done from here.

import { Refusal, getJson } from '../api/client';
import type { Neighbor, Neighbors, Vertex } from '../api/types';
import { neighborsOf } from '../content/expand';
import { button, el, put } from '../dom/element';
import { count, shown, value } from '../dom/words';
import type { App } from '../state/app';
import { differs, storedSelection } from '../state/state';

const MEMBERS = ['selected', 'at', 'window', 'where', 'kind', 'neighbors', 'direction'] as const;

export function vertexPanel(app: App): HTMLElement {
    const body = el('div', {}, el('p', { class: 'aside' }, 'Select a vertex in the picture, in the table or by the search.'));
    const panel = el('section', { id: 'vertex', 'aria-label': 'Selected vertex' }, el('h2', {}, 'Vertex'), body);
    let current = new AbortController();
    const renew = async (): Promise<void> => {
        current.abort();
        current = new AbortController();
        const { signal } = current;
        const { selected } = app.state;
        if (selected === null) {
            put(body, el('p', { class: 'aside' }, 'Select a vertex in the picture, in the table or by the search.'));
            return;
        }
        try {
            const [vertex, neighbors] = await Promise.all([
                getJson<Vertex>('vertex', { id: selected, ...storedSelection(app.state, app.database.latest) }, signal),
                neighborsOf(selected, app.state, app.database, signal),
            ]);
            if (!signal.aborted) put(body, ...describe(app, vertex, neighbors));
        } catch (error) {
            if (signal.aborted) return;
            // The conditions say themselves what is wrong with them.
            const isCondition = error instanceof Refusal && error.status === 400 && app.state.where.length > 0;
            const why = isCondition ? 'Nothing is known of it under these conditions.' : error instanceof Error ? error.message : String(error);
            put(body, el('p', { class: 'id large', id: 'vertex-id' }, selected), el('p', { role: 'alert', class: 'wrong' }, why));
        }
    };
    app.store.listen((state, before) => {
        if (differs(state, before, MEMBERS)) void renew();
    });
    void renew();
    return panel;
}

function describe(app: App, vertex: Vertex, neighbors: Neighbors): HTMLElement[] {
    const { id } = vertex;
    const degrees = app.database.directed
        ? [line('Out-edges', count(vertex.out_degree)), line('In-edges', vertex.in_degree === null ? 'not stored' : count(vertex.in_degree))]
        : [line('Edges', count(vertex.out_degree))];
    const properties = Object.entries(vertex.properties).map(([name, any]) => line(name, value(any)));
    const path = app.state.path;
    return [
        el('p', { class: 'id large', id: 'vertex-id' }, id),
        el('dl', { class: 'facts' }, ...degrees.flat(), ...properties.flat()),
        el('div', { class: 'actions' },
            button('Expand', () => app.expand(id), { id: 'expand', title: 'Add its neighbours to the picture (Enter)' }),
            button('Only around it', () => app.around(id), { id: 'around' }),
            button('Path from here', () => app.store.change({ path: { from: id, to: path?.to ?? '' }, difference: null })),
            button('Path to here', () => app.store.change({ path: { from: path?.from ?? '', to: id }, difference: null }))),
        el('h3', {}, 'Neighbours ', el('span', { class: 'aside', id: 'neighbors-shown' }, shown(neighbors.shown, neighbors.found))),
        el('ul', { class: 'neighbors', 'aria-label': 'Neighbours' }, ...neighbors.neighbors.map((neighbor) => row(app, neighbor))),
    ];
}

function line(name: string, text: string): HTMLElement[] {
    return [el('dt', {}, name), el('dd', {}, text)];
}

const ARROWS = { out: '→', in: '←', both: '–' };
const SAID = { out: 'edge to', in: 'edge from', both: 'edge with' };

function row(app: App, neighbor: Neighbor): HTMLElement {
    const details = [
        neighbor.count > 1 ? `${count(neighbor.count)} edges` : '',
        neighbor.weight !== undefined && neighbor.weight !== null ? `weight ${value(neighbor.weight)}` : '',
        // Of one edge, its properties; the weight is one of them.
        ...(neighbor.count > 1 ? [] : Object.entries(neighbor.properties ?? {}).filter(([, any]) => any !== null && any !== neighbor.weight)
            .map(([name, any]) => `${name} ${value(any)}`)),
    ].filter((text) => text !== '').join(', ');
    const direction = ARROWS[neighbor.direction] ? neighbor.direction : 'both';
    return el('li', {},
        el('span', { 'aria-label': SAID[direction], role: 'img' }, ARROWS[direction]),
        button(neighbor.id, () => app.visit(neighbor.id), { class: 'link id', title: neighbor.id }),
        el('span', { class: 'aside', title: details }, details));
}
