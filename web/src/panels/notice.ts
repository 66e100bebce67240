// Tells that a newer version was committed while the page is open. Nothing changes until the person wants to see it.

import { button, el, put } from '../dom/element';
import type { App } from '../state/app';

export function notice(app: App, see: () => Promise<void>): HTMLElement {
    const element = el('div', { class: 'notice', id: 'notice', role: 'status', hidden: true });
    const changes = new EventSource('api/v1/changes');
    changes.addEventListener('version', (event) => {
        const { latest } = JSON.parse((event as MessageEvent<string>).data) as { latest: number };
        if (latest <= app.database.latest) return;
        const show = (): void => {
            element.hidden = true;
            void see();
        };
        element.hidden = false;
        put(element, `Version ${latest} was committed.`, button('See it', show, { id: 'see-newest' }),
            button('Later', () => { element.hidden = true; }, { class: 'quiet' }));
    });
    return element;
}
