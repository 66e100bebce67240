// The vertices of the picture as a table: what takes over where a picture shows no more, and what screen readers read.

import type { Vertex } from '../content/content';
import { button, el, keepingFocus, put } from '../dom/element';
import { count, shown, value } from '../dom/words';
import type { App } from '../state/app';

/** More rows come by a button: thousands of them at once make the page slow. */
const ROWS = 200;

interface Column { name: string; numeric: boolean; of(vertex: Vertex): unknown }

export function tablePanel(app: App): { element: HTMLElement; renew(): void } {
    const element = el('section', { id: 'table', 'aria-label': 'Table of vertices', tabindex: -1 });
    let order = { column: 'degree', down: true };
    let rows = ROWS;
    const renew = (): void => {
        if (element.hidden) return;
        const columns = columnsOf(app);
        const by = columns.find(({ name }) => name === order.column) ?? columns[0];
        const vertices = [...app.content.vertices.values()].sort((a, b) => compare(by.of(a), by.of(b)) * (order.down ? -1 : 1));
        const heads = columns.map((column) => {
            const sorted = column === by ? (order.down ? 'descending' : 'ascending') : 'none';
            const sort = (): void => {
                order = { column: column.name, down: column.name === order.column ? !order.down : column.numeric };
                renew();
            };
            return el('th', { scope: 'col', 'aria-sort': sorted, class: column.numeric ? 'number' : null },
                button(column.name + (sorted === 'none' ? '' : order.down ? ' ↓' : ' ↑'), sort, { class: 'link', 'data-key': column.name }));
        });
        const body = vertices.slice(0, rows).map((vertex) => row(app, columns, vertex));
        const more = rows < vertices.length && button('More rows', () => { rows += ROWS; renew(); });
        keepingFocus(element, () => put(element,
            el('table', {}, el('caption', {}, shown(Math.min(rows, vertices.length), vertices.length)), el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...body)),
            more));
    };
    app.onContent(() => { rows = ROWS; renew(); });
    app.run.listen(renew);
    app.store.listen(({ selected }, before) => {
        if (selected === before.selected) return;
        for (const line of element.querySelectorAll('tbody tr')) line.classList.toggle('selected', line.getAttribute('data-id') === selected);
    });
    return { element, renew };
}

function columnsOf(app: App): Column[] {
    const marked = [...app.content.vertices.values()].some(({ mark }) => mark !== null);
    const groups = app.content.legend;
    const labels = new Map(groups.map(({ group, label }) => [JSON.stringify(group), label]));
    return [
        { name: 'id', numeric: false, of: (vertex) => vertex.id },
        { name: 'degree', numeric: true, of: (vertex) => vertex.degree },
        ...(marked ? [{ name: 'mark', numeric: false, of: (vertex: Vertex) => vertex.mark }] : []),
        // The values of a property have a column of their own.
        ...(groups.length > 0 && app.state.colour === 'communities' ? [{ name: 'group', numeric: false, of: (vertex: Vertex) => labels.get(JSON.stringify(vertex.group)) ?? null }] : []),
        ...app.run.paints().map(({ column, groups: labels, values }) => ({ name: column, numeric: !labels, of: (vertex: Vertex) => values.get(vertex.id) })),
        ...app.database.vertex_properties.map(({ name, type }) => ({ name, numeric: type !== 'text', of: (vertex: Vertex) => vertex.properties[name] })),
    ];
}

function compare(a: unknown, b: unknown): number {
    const [missingA, missingB] = [a === null || a === undefined, b === null || b === undefined];
    if (missingA || missingB) return Number(missingB) - Number(missingA);
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', { numeric: true });
}

function row(app: App, columns: Column[], vertex: Vertex): HTMLElement {
    const cells = columns.map(({ name, numeric, of }) => {
        if (name === 'id') return el('th', { scope: 'row' }, button(vertex.id, () => app.store.change({ selected: vertex.id }), { class: 'link id' }));
        const any = of(vertex);
        return el('td', { class: numeric ? 'number' : null }, name === 'degree' && typeof any === 'number' ? count(any) : value(any));
    });
    return el('tr', { 'data-id': vertex.id, class: vertex.id === app.state.selected ? 'selected' : null }, ...cells);
}
