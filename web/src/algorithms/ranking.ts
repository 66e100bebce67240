// The rows of an answer, sorted by any column, the largest first.

import type { Column, Row } from '../api/types';
import { fail } from '../dom/announce';
import { button, el, keepingFocus, put } from '../dom/element';
import { shown, value } from '../dom/words';
import type { App } from '../state/app';

const STEP = 20;
const ROWS_MAX = 1000;

export function ranking(app: App, columns: Column[]): HTMLElement {
    const table = el('table', { id: 'ranking' });
    const foot = el('p', { class: 'actions' });
    // Edges of a tree, say, have no values.
    const main = columns.at(0) ?? null;
    let order = { column: main?.name ?? null, down: main !== null && main.type !== 'group' };
    let limit = STEP;
    const renew = async (): Promise<void> => {
        try {
            const { rows, found } = await app.run.rows(order.column, order.down, limit);
            const ends = (['id', 'source', 'target'] as const).filter((name) => rows[0]?.[name] !== undefined);
            const heads = columns.map((column) => head(column, order, () => {
                order = { column: column.name, down: column.name === order.column ? !order.down : true };
                void renew();
            }));
            keepingFocus(table, () => put(table, el('thead', {}, el('tr', {}, ...ends.map((name) => el('th', { scope: 'col' }, name)), ...heads)),
                el('tbody', {}, ...rows.map((row) => line(app, columns, row, ends)))));
            const more = rows.length < found && limit < ROWS_MAX && button('More', () => { limit = Math.min(limit * 4, ROWS_MAX); void renew(); }, { class: 'quiet' });
            put(foot, el('span', { class: 'aside', id: 'ranking-shown' }, shown(rows.length, found)), more);
        } catch (error) {
            fail(error);
        }
    };
    void renew();
    return el('div', { class: 'ranking' }, table, foot);
}

function head({ name, type }: Column, order: { column: string | null; down: boolean }, sort: () => void): HTMLElement {
    const sorted = name !== order.column ? 'none' : order.down ? 'descending' : 'ascending';
    const arrow = sorted === 'none' ? '' : order.down ? ' ↓' : ' ↑';
    return el('th', { scope: 'col', 'aria-sort': sorted, class: isNumber(type) ? 'number' : null }, button(name + arrow, sort, { class: 'link', 'data-key': name }));
}

function line(app: App, columns: Column[], row: Row, ends: readonly ('id' | 'source' | 'target')[]): HTMLElement {
    const cells = columns.map(({ name, type }) => el('td', { class: isNumber(type) ? 'number' : null }, value(row[name])));
    const names = ends.map((end) => String(row[end]));
    const heads = names.map((id) => el('th', { scope: 'row' }, button(id, () => app.visit(id), { class: 'link id' })));
    return el('tr', {}, ...heads, ...cells);
}

function isNumber(type: string): boolean {
    return type === 'integer' || type === 'number';
}
