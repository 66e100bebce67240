// What the page shows, as one value. It is in the fragment of the address, so that a reload, a bookmark and a shared
// link restore it.

import type { Parameters } from '../api/client';

export interface Pair { from: string; to: string }

/** A path whose other end is still to be chosen, which outlives a look elsewhere; null of any other. */
export function halfOf(path: Pair | null): Pair | null {
    return path && (path.from === '') !== (path.to === '') ? path : null;
}

export interface State {
    /** Vertices that the picture is drawn around; none: the vertices with most edges. */
    focus: string[];
    hops: number;
    /** Vertices whose neighbours were added. */
    expanded: string[];
    selected: string | null;
    /** A version or a time; null: the newest version when the page was opened. */
    at: string | null;
    window: string | null;
    where: string[];
    kind: string[];
    reverse: boolean;
    undirected: boolean;
    /** Greatest number of vertices in the picture of a focus, and of neighbours that an expansion adds. */
    vertices: number;
    neighbors: number;
    direction: 'both' | 'out' | 'in';
    layout: 'forces' | 'layers';
    colour: string;
    size: string;
    view: 'auto' | 'picture' | 'both' | 'table';
    algorithm: string | null;
    /** Several values of an option that may be repeated, else one. */
    options: Record<string, string[]>;
    /** The edge property that an algorithm takes for weights; null: none. */
    weight: string | null;
    /** Whether the algorithm ran, and the columns of its answer that colour and size the vertices. */
    ran: boolean;
    paintColour: string | null;
    paintSize: string | null;
    path: Pair | null;
    /** The edge property that is the length of an edge of the path; null: a step. */
    length: string | null;
    difference: Pair | null;
}

export const START: State = {
    focus: [], hops: 1, expanded: [], selected: null, at: null, window: null, where: [], kind: [], reverse: false,
    undirected: false, vertices: 200, neighbors: 100, direction: 'both', layout: 'forces', colour: 'communities', size: '',
    view: 'auto', algorithm: null, options: {}, weight: null, ran: false, paintColour: null, paintSize: null, path: null, length: null,
    difference: null,
};

/** The part of the state that selects edges, as parameters of a call. `latest` is the version of a state without one. */
export function selection(state: State, latest: number): Parameters {
    const { window, where, kind, reverse, undirected } = state;
    return { at: state.at ?? String(latest), window, where, kind, reverse, undirected };
}

/** The same of what shows edges in the direction in which they are stored. */
export function storedSelection(state: State, latest: number): Parameters {
    return { ...selection(state, latest), reverse: false, undirected: false };
}

/** A selection for the body of a call: what is not set is left out. */
export function body(selected: Parameters): Record<string, unknown> {
    const entries = Object.entries(selected);
    return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0)));
}

type Listener = (state: State, before: State) => void;

/** Holds the state and tells listeners of its changes. */
export class Store {
    private listeners: Listener[] = [];

    constructor(private current: State) {}

    get state(): State {
        return this.current;
    }

    change(part: Partial<State>): void {
        const before = this.current;
        this.current = { ...before, ...part };
        for (const listener of this.listeners) listener(this.current, before);
    }

    listen(listener: Listener): void {
        this.listeners.push(listener);
    }
}

/** Whether any of these members differ. */
export function differs(a: State, b: State, names: readonly (keyof State)[]): boolean {
    return names.some((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
}
