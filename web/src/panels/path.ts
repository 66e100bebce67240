// The shortest path between two vertices, drawn into the picture.

import { vertexField } from '../dom/completion';
import { button, choice, el, field, put } from '../dom/element';
import type { App } from '../state/app';
import { numericProperties } from '../state/properties';
import { halfOf } from '../state/state';

export function pathPanel(app: App): HTMLElement {
    const found = el('p', { id: 'path-found', role: 'status' });
    const taken = (): void => {
        const pair = { from: from.input.value.trim(), to: to.input.value.trim() };
        // One end alone waits for the other.
        if (halfOf(pair)) app.store.change({ path: pair });
        else find();
    };
    const from = vertexField('From', app.state.path?.from ?? '', taken, app.at);
    const to = vertexField('To', app.state.path?.to ?? '', taken, app.at);
    from.input.id = 'path-from';
    to.input.id = 'path-to';
    const find = (): void => {
        const pair = { from: from.input.value.trim(), to: to.input.value.trim() };
        if (pair.from !== '' && pair.to !== '') app.store.change({ path: pair, difference: null });
    };
    const lengths = numericProperties(app.database.edge_properties);
    const length = choice([['', 'steps'], ...lengths], app.state.length ?? '', (name) => app.store.change({ length: name || null }));
    const panel = el('details', { id: 'path', open: app.state.path !== null }, el('summary', {}, 'Path'),
        from.element, to.element, lengths.length > 0 && field('Length in', length),
        el('div', { class: 'actions' }, button('Find', find, { id: 'path-find' }), button('Clear', () => app.store.change({ path: null }))), found);
    app.store.listen(({ path, length: property }, before) => {
        length.value = property ?? '';
        if (path === before.path) return;
        from.input.value = path?.from ?? '';
        to.input.value = path?.to ?? '';
        if (path) panel.open = true;
    });
    app.onContent(() => {
        const { path, difference } = app.state;
        const half = halfOf(path);
        const missing = half && (half.to === '' ? 'Where does it lead to?' : 'Where does it begin?');
        put(found, missing ?? (path && !difference ? app.content.note : ''));
    });
    return panel;
}
