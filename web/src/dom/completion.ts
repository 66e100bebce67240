// A field for the id of a vertex, which lists ids that begin with what was typed: a combobox, so arrow keys move in
// the list, Enter takes one, Escape closes it.

import { getJson } from '../api/client';
import type { Completion } from '../api/types';
import { el, put, settled } from './element';
import { count, shown } from './words';

let number = 0;

const ENDS = ['pointerup', 'pointercancel'];
let pressed = false;
document.addEventListener('pointerdown', () => { pressed = true; }, true);
for (const end of ENDS) document.addEventListener(end, () => { pressed = false; }, true);

export interface VertexField {
    element: HTMLElement;
    input: HTMLInputElement;
}

/** `taken` is called with an id when one is taken from the list or entered. */
export function vertexField(label: string, value: string, taken: (id: string) => void, at: () => string | null): VertexField {
    const list = el('ul', { role: 'listbox', id: `ids-${(number += 1)}`, 'aria-label': 'Vertices', hidden: true });
    const input = el('input', {
        type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-label': label, placeholder: label,
        'aria-expanded': 'false', 'aria-controls': list.id, 'aria-autocomplete': 'list',
    });
    input.value = value;
    let ids: string[] = [];
    let active = -1;
    let newest = 0;
    let wanted = false;

    const close = (): void => {
        newest += 1; // an answer that is still under way comes too late
        wanted = false;
        list.hidden = true;
        active = -1;
        input.setAttribute('aria-expanded', 'false');
        input.removeAttribute('aria-activedescendant');
    };
    const take = (id: string): void => {
        input.value = id;
        close();
        if (id !== '') taken(id);
    };
    const move = (to: number): void => {
        list.children[active]?.setAttribute('aria-selected', 'false');
        active = (to + ids.length) % ids.length;
        const option = list.children[active];
        option.setAttribute('aria-selected', 'true');
        option.scrollIntoView({ block: 'nearest' });
        input.setAttribute('aria-activedescendant', option.id);
    };
    const ask = async (): Promise<void> => {
        if (!wanted) return;
        const mine = (newest += 1);
        const answer = await getJson<Completion>('vertices', { prefix: input.value, limit: 20, at: at() }).catch(() => null);
        if (!answer || mine !== newest || document.activeElement !== input) return;
        ids = answer.vertices.map((vertex) => vertex.id);
        active = -1;
        const options = answer.vertices.map((vertex, place) =>
            el('li', {
                role: 'option', id: `${list.id}-${place}`, 'aria-selected': 'false',
                // Before the field loses the focus, which closes the list.
                onmousedown: (event: MouseEvent) => { event.preventDefault(); take(vertex.id); },
            }, el('span', { class: 'id' }, vertex.id), el('span', { class: 'aside' }, count(vertex.degree))));
        const rest = answer.found !== null && answer.found > ids.length && shown(ids.length, answer.found);
        put(list, ...options, rest && el('li', { class: 'aside', role: 'presentation' }, rest),
            ids.length === 0 && el('li', { class: 'aside', role: 'presentation' }, 'No vertex begins so, with the same capital letters.'));
        list.hidden = false;
        input.setAttribute('aria-expanded', 'true');
    };
    const askSoon = settled(120, () => void ask());
    const typed = (): void => {
        wanted = true;
        askSoon();
    };
    input.addEventListener('input', () => {
        close(); // an id of what was typed before is not meant
        typed();
    });
    input.addEventListener('focus', typed);
    input.addEventListener('blur', () => {
        newest += 1;
        wanted = false;
        // What is below a list in a panel moves when it closes, so not before the click that took the focus is done.
        if (!pressed) close();
        else for (const end of ENDS) document.addEventListener(end, () => setTimeout(() => { if (document.activeElement !== input) close(); }), { once: true });
    });
    input.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') {
            event.preventDefault();
            take(active >= 0 ? ids[active] : input.value.trim());
        } else if (event.key === 'Escape' && (wanted || !list.hidden)) {
            event.stopPropagation();
            close();
        } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && ids.length > 0 && !list.hidden) {
            event.preventDefault();
            move(event.key === 'ArrowDown' ? active + 1 : active - 1);
        }
    });
    return { element: el('div', { class: 'completion' }, input, list), input };
}
