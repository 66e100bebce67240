// The keyboard: what the keys do, and a list of them. Keys act where no field of text has the focus.

import { button, el } from '../dom/element';
import type { Picture } from '../picture/picture';
import type { App } from '../state/app';

const KEYS: [string, string][] = [
    ['/', 'Search a vertex'],
    ['Arrow keys', 'In the picture: select the next vertex in this direction'],
    ['Enter', 'In the picture: add the neighbours of the selected vertex'],
    ['+ and −', 'Zoom'],
    ['0', 'Show the whole picture'],
    ['c', 'Move the selected vertex to the middle'],
    ['t', 'Picture, both, table'],
    ['Escape', 'Select nothing'],
    ['?', 'This list'],
];

export function keysDialog(): HTMLDialogElement {
    const dialog = el('dialog', { id: 'keys', 'aria-label': 'Keys' }, el('h2', {}, 'Keys'),
        el('dl', { class: 'facts' }, ...KEYS.flatMap(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)])));
    dialog.append(button('Close', () => dialog.close()));
    return dialog;
}

export function listenToKeys(app: App, picture: Picture | null, container: HTMLElement, dialog: HTMLDialogElement, turnView: () => void): void {
    const everywhere: Record<string, () => void> = {
        '/': () => document.getElementById('search')?.focus(),
        '?': () => dialog.showModal(),
        t: turnView,
        c: () => picture?.centre(),
        '0': () => picture?.fit(),
        '+': () => picture?.zoom(0.7),
        '-': () => picture?.zoom(1.4),
        Escape: () => app.store.change({ selected: null }),
    };
    const inPicture: Record<string, () => void> = {
        ArrowLeft: () => picture?.step(-1, 0),
        ArrowRight: () => picture?.step(1, 0),
        ArrowUp: () => picture?.step(0, -1),
        ArrowDown: () => picture?.step(0, 1),
        Enter: () => { if (app.state.selected !== null) app.expand(app.state.selected); },
    };
    document.addEventListener('keydown', (event) => {
        const target = event.target as HTMLElement;
        const writes = target.closest('input:not([type=checkbox], [type=radio]), select, textarea, [role=slider], dialog');
        if (event.ctrlKey || event.metaKey || event.altKey || writes) return;
        const act = everywhere[event.key] ?? (target === container ? inPicture[event.key] : undefined);
        if (!act) return;
        event.preventDefault();
        act();
    });
}
