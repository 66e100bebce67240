// The shortest path between two vertices, drawn into the picture.

import { vertexField } from '../dom/completion';
import { button, choice, el, field, put } from '../dom/element';
import type { App } from '../state/app';
import { numericProperties } from '../state/properties';

export function pathPanel(app: App): HTMLElement {
    const found = el('p', { id: 'path-found', role: 'status' });
    const ends = { from: app.state.path?.from ?? '', to: app.state.path?.to ?? '' };
    const set = (part: Partial<typeof ends>): void => void Object.assign(ends, part);
    const from = vertexField('From', ends.from, (id) => set({ from: id }), app.at);
    const to = vertexField('To', ends.to, (id) => { set({ to: id }); find(); }, app.at);
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
    app.onContent(() => put(found, app.state.path && !app.state.difference ? app.content.note : ''));
    return panel;
}
