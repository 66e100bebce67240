// The state as the fragment of the address, and back. Members as they are at the start are left out, so links are
// short. The token never is a member.

import { START, type Pair, type State, type Store } from './state';

const LISTS = ['focus', 'expanded', 'where', 'kind'] as const;
const TEXTS = ['selected', 'at', 'window', 'colour', 'size', 'algorithm', 'weight', 'length', 'paintColour', 'paintSize'] as const;
const NUMBERS = ['hops', 'vertices', 'neighbors'] as const;
const FLAGS = ['reverse', 'undirected', 'ran'] as const;
const PAIRS = ['path', 'difference'] as const;
const CHOICES = { direction: ['both', 'out', 'in'], layout: ['forces', 'layers'], view: ['auto', 'picture', 'both', 'table'] } as const;
const OPTION = 'option.';

export function write(state: State): string {
    const query = new URLSearchParams();
    for (const name of LISTS) for (const value of state[name]) query.append(name, value);
    for (const name of [...TEXTS, ...NUMBERS, ...(Object.keys(CHOICES) as (keyof typeof CHOICES)[])]) {
        if (state[name] !== START[name]) query.set(name, String(state[name] ?? ''));
    }
    for (const name of FLAGS) if (state[name]) query.set(name, '1');
    for (const name of PAIRS) {
        const pair = state[name];
        if (pair) query.append(name, pair.from), query.append(name, pair.to);
    }
    for (const [name, values] of Object.entries(state.options)) for (const value of values) query.append(OPTION + name, value);
    return query.toString();
}

/** Members that are missing or senseless are as at the start: anybody can write a link. */
export function read(fragment: string): State {
    const query = new URLSearchParams(fragment.replace(/^#/, ''));
    const state: State = { ...START, options: {} };
    for (const name of LISTS) state[name] = query.getAll(name);
    for (const name of TEXTS) {
        const value = query.get(name);
        if (value !== null) (state as unknown as Record<string, unknown>)[name] = value;
    }
    for (const name of NUMBERS) {
        const value = Number(query.get(name) ?? Number.NaN);
        if (Number.isInteger(value) && value >= 0) state[name] = value;
    }
    for (const name of FLAGS) state[name] = query.get(name) === '1';
    for (const name of PAIRS) state[name] = pair(query.getAll(name));
    for (const [name, allowed] of Object.entries(CHOICES)) {
        const value = query.get(name);
        if (value !== null && (allowed as readonly string[]).includes(value)) (state as unknown as Record<string, unknown>)[name] = value;
    }
    for (const [name, value] of query) if (name.startsWith(OPTION)) (state.options[name.slice(OPTION.length)] ??= []).push(value);
    return state;
}

function pair([from, to]: string[]): Pair | null {
    return from === undefined || to === undefined ? null : { from, to };
}

/** Keeps the address and the state alike, in both directions: the browser's back and forward work. */
export function tie(store: Store): void {
    store.listen((state, before) => {
        const text = write(state);
        if (text === write(read(location.hash))) return;
        // A window that slides would fill the history with its steps.
        const slides = before.window !== null && write({ ...state, window: null }) === write({ ...before, window: null });
        const address = text === '' ? location.pathname : `#${text}`;
        if (slides) history.replaceState(null, '', address);
        else history.pushState(null, '', address);
    });
    window.addEventListener('popstate', () => {
        const state = read(location.hash);
        if (write(state) !== write(store.state)) store.change(state);
    });
}
