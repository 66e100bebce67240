// The search for a vertex, and the way back to the picture of the whole.

import { vertexField } from '../dom/completion';
import { button, el } from '../dom/element';
import type { App } from '../state/app';

export function searchPanel(app: App): HTMLElement {
    const field = vertexField('Search a vertex', '', (id) => app.visit(id), app.at);
    field.input.id = 'search';
    const whole = button('Whole graph', () => app.whole(), { id: 'whole' });
    return el('div', { class: 'search', role: 'search' }, field.element, whole);
}
