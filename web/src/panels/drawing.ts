// How the picture is drawn: places, colours, sizes, and how much of the graph it holds.

import { choice, el, field, keepingFocus, put } from '../dom/element';
import type { App } from '../state/app';
import { numericProperties } from '../state/properties';

export function drawingPanel(app: App): HTMLElement {
    const body = el('div', { class: 'fields' });
    const renew = (): void => {
        const { state, database, store } = app;
        const names = database.vertex_properties.map(({ name }): [string, string] => [name, name]);
        const numeric = numericProperties(database.vertex_properties);
        const amounts = (most: number[], now: number): [string, string][] =>
            [...new Set([...most, now])].sort((a, b) => a - b).map((number) => [String(number), String(number)]);
        keepingFocus(body, () => put(body,
            keyed('Layout', choice([['forces', 'Forces'], ['layers', 'Layers']], state.layout, (layout) => store.change({ layout: layout as 'forces' }))),
            keyed('Colours', choice([['communities', 'Communities'], ...names], state.colour, (colour) => store.change({ colour, paintColour: null }))),
            keyed('Sizes', choice([['', 'Degree'], ...numeric], state.size, (size) => store.change({ size, paintSize: null }))),
            keyed('Vertices at most', choice(amounts([50, 100, 200, 400, 1000, 2000], state.vertices), String(state.vertices),
                (vertices) => store.change({ vertices: Number(vertices) }))),
            keyed('Neighbours at most', choice(amounts([25, 100, 400, 1000], state.neighbors), String(state.neighbors),
                (neighbors) => store.change({ neighbors: Number(neighbors) }))),
            state.focus.length > 0 && keyed('Steps around', choice(amounts([1, 2, 3], state.hops), String(state.hops),
                (hops) => store.change({ hops: Number(hops) })))));
    };
    app.store.listen(renew);
    renew();
    return el('details', { id: 'drawing' }, el('summary', {}, 'Picture'), body);
}

/** A field whose control keeps the focus when the panel is drawn anew. */
function keyed(label: string, control: HTMLElement): HTMLElement {
    control.setAttribute('data-key', label);
    return field(label, control);
}
