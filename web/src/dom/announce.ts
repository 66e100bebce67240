// Says short sentences: below the picture for those who see it, in a live region for screen readers. Errors stay
// until the next action; other sentences go after some seconds.

import { button, el, put } from './element';

const region = el('div', { class: 'said', role: 'status', 'aria-live': 'polite' });
const alarm = el('div', { class: 'alarm', role: 'alert', hidden: true });
let timer = 0;

/** The elements in which sentences appear. */
export function announcers(): HTMLElement[] {
    return [region, alarm];
}

export function say(text: string): void {
    put(region, text);
    clearTimeout(timer);
    timer = window.setTimeout(() => put(region), 6000);
}

/** Shows what went wrong. A request that the page itself gave up is nothing to tell. */
export function fail(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    const text = error instanceof Error ? error.message : String(error);
    alarm.hidden = false;
    put(alarm, el('span', {}, text), button('Close', calm, { class: 'quiet' }));
}

/** Takes the error away. */
export function calm(): void {
    alarm.hidden = true;
    put(alarm);
}
