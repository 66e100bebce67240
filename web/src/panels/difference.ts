// The choice of two versions whose difference is drawn.

import { button, choice, el, field, keepingFocus, put } from '../dom/element';
import type { App } from '../state/app';

const LINES_MAX = 200;
const SIGNS = { added: '+', removed: '−', changed: '~' };

export function differencePanel(app: App): { element: HTMLElement; renew(): void } {
    const body = el('div', { class: 'fields' });
    const found = el('p', { id: 'difference-found', role: 'status' });
    const list = el('ul', { class: 'changes', 'aria-label': 'Changes' });
    const panel = el('details', { id: 'difference', open: app.state.difference !== null }, el('summary', {}, 'Difference of versions'), body, found, list);
    const renew = (): void => {
        const names = app.versions.map(({ version, tag }): [string, string] => [String(version), tag === null ? String(version) : `${version} (${tag})`]);
        if (names.length < 2) {
            put(body, el('p', { class: 'aside' }, 'There is one version only.'));
            return;
        }
        const last = names.length - 1;
        const pair = app.state.difference ?? { from: names[last - 1][0], to: names[last][0] };
        const [from, to] = [pair.from, pair.to].map((at) => choice(names, at, () => undefined));
        from.id = 'difference-from';
        to.id = 'difference-to';
        keepingFocus(body, () => put(body, field('From version', from), field('To version', to),
            el('div', { class: 'actions' },
                button('Show', () => app.store.change({ difference: { from: from.value, to: to.value }, selected: null }), { id: 'difference-show' }),
                app.state.difference && button('Close', () => app.store.change({ difference: null }), { id: 'difference-close' }))));
    };
    app.store.listen(({ difference }, before) => {
        if (difference === before.difference) return;
        if (difference) panel.open = true;
        renew();
    });
    app.onContent(() => {
        put(found, app.state.difference ? app.content.note : '');
        put(list, ...(app.state.difference ? changes(app) : []));
    });
    renew();
    return { element: panel, renew };
}

/** The changes in words: what the picture shows, for those who do not see it. */
function changes(app: App): HTMLElement[] {
    const arrow = app.database.directed ? '→' : '–';
    const { vertices, edges } = app.content;
    const lines = [
        ...[...vertices.values()].map(({ mark, id }) => ({ mark, ends: [id] })),
        ...edges.map(({ mark, source, target }) => ({ mark, ends: [source, target] })),
    ].flatMap(({ mark, ends }) => (mark === null || mark === 'path' ? [] : [{ mark, ends }]));
    return lines.slice(0, LINES_MAX).map(({ mark, ends }) =>
        el('li', {}, el('span', { role: 'img', 'aria-label': mark }, SIGNS[mark]), ' ',
            ...ends.flatMap((id, place) => [place > 0 && ` ${arrow} `, button(id, () => app.store.change({ selected: id }), { class: 'link id' })])));
}
