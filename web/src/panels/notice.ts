// Tells that a newer version was committed while the page is open, and that the server is gone. Nothing changes until
// the person wants to see it.

import { button, el, put } from '../dom/element';
import type { App } from '../state/app';

/** So long the server may take to answer again, before the page says that it is gone. */
const GONE_MS = 3000;

export function notice(app: App, see: () => Promise<void>): HTMLElement[] {
    const element = el('div', { class: 'notice', id: 'notice', role: 'status', hidden: true });
    const changes = new EventSource('api/v1/changes');
    const gone = el('div', { class: 'notice', id: 'gone', role: 'alert', hidden: true });
    let waiting = 0;
    changes.addEventListener('error', () => {
        // The browser asks again by itself, until the server refuses.
        if (waiting !== 0) return;
        waiting = window.setTimeout(() => {
            put(gone, 'The server does not answer. Does `esker serve` still run? What is shown stays; the page goes on once it answers again.');
            gone.hidden = false;
        }, GONE_MS);
    });
    changes.addEventListener('open', () => {
        clearTimeout(waiting);
        waiting = 0;
        gone.hidden = true;
    });
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
    return [gone, element];
}
