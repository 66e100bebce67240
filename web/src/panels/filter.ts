// What is taken of the graph: conditions, kinds, directions.

import { button, choice, el, field, put } from '../dom/element';
import type { App } from '../state/app';
import { numericProperties } from '../state/properties';

export function filterPanel(app: App): HTMLElement {
    const chips = el('ul', { class: 'chips', 'aria-label': 'Conditions' });
    const condition = el('input', { type: 'text', id: 'where', spellcheck: 'false', 'aria-label': 'Condition', placeholder: example(app) });
    const add = (event: Event): void => {
        event.preventDefault();
        const text = condition.value.trim();
        if (text === '') return;
        condition.value = '';
        app.store.change({ where: [...app.state.where.filter((one) => one !== text), text] });
    };
    const kinds = kindBoxes(app);
    const reverse = flag('Paths and algorithms follow edges backwards', () => app.state.reverse, (reverse) => app.store.change({ reverse }));
    const undirected = flag('Paths and algorithms take edges as undirected', () => app.state.undirected, (undirected) => app.store.change({ undirected }));
    const direction = choice([['both', 'Out and in'], ['out', 'Out'], ['in', 'In']], app.state.direction,
        (direction) => app.store.change({ direction: direction as 'both' }));
    direction.id = 'direction';

    const renew = (): void => {
        const { where } = app.state;
        put(chips, ...where.map((text) => {
            const why = app.wrong.get(text);
            return el('li', { class: why === undefined ? null : 'wrong' }, el('code', {}, text),
                button('×', () => app.store.change({ where: where.filter((one) => one !== text) }), { class: 'quiet', 'aria-label': `Remove ${text}` }),
                why !== undefined && el('p', { role: 'alert' }, why));
        }));
        kinds?.renew();
        reverse.renew();
        undirected.renew();
        direction.value = app.state.direction;
    };
    app.store.listen(renew);
    app.onWrong(renew);
    renew();
    return el('details', { id: 'filter', open: true },
        el('summary', {}, 'Filter'),
        el('form', { class: 'line', onsubmit: add }, condition, el('button', { type: 'submit' }, 'Add')),
        chips, kinds?.element,
        app.database.directed && field('Neighbours', direction),
        app.database.directed && el('div', { class: 'flags' }, reverse.element, undirected.element));
}

/** A condition on a property that this database has. */
function example({ database }: App): string {
    const numbers = numericProperties(database.edge_properties);
    if (numbers.length > 0) return `${numbers[0][0]} > 1`;
    const text = database.edge_properties.find(({ type }) => type === 'text');
    if (text) return `${text.name} = 'a'`;
    const vertex = database.vertex_properties[0] ?? null;
    return vertex ? `source.${vertex.name} is not null` : 'Condition';
}

interface Control { element: HTMLElement; renew(): void }

function flag(text: string, get: () => boolean, set: (on: boolean) => void): Control {
    const box = el('input', { type: 'checkbox', onchange: () => set(box.checked) });
    return { element: el('label', { class: 'flag' }, box, text), renew: () => { box.checked = get(); } };
}

function kindBoxes(app: App): Control | null {
    const { kinds } = app.database;
    if (!kinds || kinds.length === 0) return null;
    const boxes = kinds.map((kind) => flag(kind, () => app.state.kind.includes(kind), (on) => {
        const rest = app.state.kind.filter((one) => one !== kind);
        app.store.change({ kind: on ? [...rest, kind] : rest });
    }));
    const element = el('fieldset', { class: 'kinds', id: 'kinds' }, el('legend', {}, 'Kinds (none: all)'), ...boxes.map((box) => box.element));
    return { element, renew: () => boxes.forEach((box) => box.renew()) };
}
