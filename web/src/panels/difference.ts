// The choice of two versions whose difference is drawn.

import { button, choice, el, field, put } from '../dom/element';
import type { App } from '../state/app';

export function differencePanel(app: App): { element: HTMLElement; renew(): void } {
    const body = el('div', { class: 'fields' });
    const found = el('p', { id: 'difference-found', role: 'status' });
    const panel = el('details', { id: 'difference', open: app.state.difference !== null }, el('summary', {}, 'Difference of versions'), body, found);
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
        put(body, field('From version', from), field('To version', to),
            el('div', { class: 'actions' },
                button('Show', () => app.store.change({ difference: { from: from.value, to: to.value } }), { id: 'difference-show' }),
                app.state.difference && button('Close', () => app.store.change({ difference: null }), { id: 'difference-close' })));
    };
    app.store.listen(({ difference }, before) => {
        if (difference === before.difference) return;
        if (difference) panel.open = true;
        renew();
    });
    app.onContent(() => put(found, app.state.difference ? app.content.note : ''));
    renew();
    return { element: panel, renew };
}
