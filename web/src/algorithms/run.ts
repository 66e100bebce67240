// One run of an algorithm on the server: its start, progress, end and answer, and the columns of the answer that
// colour and size the picture.

import { getJson, sendJson } from '../api/client';
import type { Column, Done, Histogram, Row, Rows } from '../api/types';
import { type Paint } from '../picture/look';
import type { App } from '../state/app';
import { body, selection } from '../state/state';

export type Phase = 'none' | 'running' | 'done' | 'failed' | 'cancelled';

/** Progress is drawn no more often: a fast run tells it thousands of times a second. */
const PROGRESS_MS = 100;
/** So many ids fit an address. */
const IDS_A_CALL = 100;
const GROUPS = 7;

export class Run {
    phase: Phase = 'none';
    progress: { part: number | null; text: string } = { part: null, text: '' };
    failure = '';
    done: Done | null = null;
    id: string | null = null;
    /** The algorithm that was started. */
    algorithm = '';
    private started = '';
    private events: EventSource | null = null;
    private listeners: (() => void)[] = [];
    private readonly painted = new Map<string, Paint>();
    private generation = 0;

    constructor(private readonly app: App) {
        // Nobody waits for the run of a closed page. A page that the browser keeps goes on.
        addEventListener('pagehide', ({ persisted }) => {
            if (!persisted && this.id !== null) void fetch(`api/v1/runs/${this.id}`, { method: 'DELETE', credentials: 'same-origin', keepalive: true });
        });
    }

    listen(listener: () => void): void {
        this.listeners.push(listener);
    }

    private tell(): void {
        for (const listener of this.listeners) listener();
    }

    /** What is computed: the body of the calls `estimate` and `runs`. */
    body(): unknown {
        const { state, database } = this.app;
        const options = Object.fromEntries(Object.entries(state.options).map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
        return { algorithm: state.algorithm, options, weight: state.weight ?? undefined, selection: body(selection(state, database.latest)) };
    }

    async start(): Promise<void> {
        await this.forget();
        const generation = (this.generation += 1);
        this.phase = 'running';
        this.progress = { part: null, text: 'Starting' };
        this.started = JSON.stringify(this.body());
        this.algorithm = this.app.state.algorithm ?? '';
        this.tell();
        try {
            const { run } = await sendJson<{ run: string | number }>('POST', 'runs', this.body());
            if (generation !== this.generation) return;
            this.id = String(run);
            this.follow(this.id);
        } catch (error) {
            this.end('failed', error instanceof Error ? error.message : String(error));
        }
    }

    async cancel(): Promise<void> {
        if (this.phase !== 'running' || this.id === null) return;
        await sendJson('DELETE', `runs/${this.id}`);
        if (this.phase === 'running') this.end('cancelled');
    }

    /** Lets the server forget the answer, which takes its memory. */
    async forget(): Promise<void> {
        this.generation += 1;
        this.events?.close();
        this.painted.clear();
        const { id } = this;
        Object.assign(this, { phase: 'none', done: null, id: null, failure: '' });
        this.tell();
        if (id !== null) await sendJson('DELETE', `runs/${id}`).catch(() => null);
    }

    private follow(id: string): void {
        let drawn = 0;
        const events = new EventSource(`api/v1/runs/${id}/events`);
        const on = (name: string, act: (data: never) => void): void =>
            events.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data || '{}') as never));
        on('progress', (progress: { part: number | null; text: string }) => {
            this.progress = progress;
            const now = performance.now();
            if (now - drawn < PROGRESS_MS) return;
            drawn = now;
            this.tell();
        });
        on('done', (done: Done) => {
            this.done = done;
            this.end('done');
            this.app.store.change({ ran: true });
        });
        on('failed', ({ message }: { message: string }) => this.end('failed', message));
        on('cancelled', () => this.end('cancelled'));
        events.onerror = () => {
            if (events.readyState === EventSource.CLOSED) this.end('failed', 'The server does not answer any more.');
        };
        this.events = events;
    }

    private end(phase: Phase, failure = ''): void {
        this.events?.close();
        this.phase = phase;
        this.failure = failure;
        this.tell();
    }

    /** Whether options or selection were changed since the answer was computed. */
    get isOld(): boolean {
        return this.done !== null && this.started !== JSON.stringify(this.body());
    }

    columns(): Column[] {
        return (this.done?.columns ?? []).filter(({ name }) => name !== 'id');
    }

    rows(sort: string | null, descending: boolean, limit: number): Promise<Rows> {
        return getJson<Rows>(`runs/${this.id}/rows`, { sort, descending, limit });
    }

    histogram(column: string): Promise<Histogram> {
        return getJson<Histogram>(`runs/${this.id}/histogram`, { column, bins: 40 });
    }

    /** The columns that are known for the vertices of the picture. */
    paints(): Paint[] {
        return [...this.painted.values()];
    }

    paint(column: string | null): Paint | null {
        return column === null ? null : (this.painted.get(column) ?? null);
    }

    /** Fetches the values of a column for the vertices of the picture that lack them. */
    async fetchPaint(column: string): Promise<void> {
        const generation = this.generation;
        const type = this.columns().find(({ name }) => name === column)?.type;
        if (this.phase !== 'done' || type === undefined || this.done?.edges) return;
        const known = this.painted.get(column) ?? { column, groups: type === 'group' || type === 'text' || type === 'boolean', values: new Map(), ranks: new Map() };
        if (known.groups && known.ranks.size === 0) {
            const { groups } = await this.histogram(column);
            (groups ?? []).slice(0, GROUPS).forEach(({ value }, rank) => known.ranks.set(String(value), rank));
        }
        const missing = [...this.app.content.vertices.keys()].filter((id) => !known.values.has(id));
        if (missing.length === 0 && this.painted.has(column)) return;
        for (let from = 0; from < missing.length; from += IDS_A_CALL) {
            const { rows } = await getJson<Rows>(`runs/${this.id}/rows`, { vertex: missing.slice(from, from + IDS_A_CALL), limit: IDS_A_CALL });
            // Those without a row too, so that they are not asked for again.
            for (const id of missing.slice(from, from + IDS_A_CALL)) known.values.set(id, undefined);
            for (const row of rows as Row[]) if (row.id !== undefined) known.values.set(row.id, row[column]);
        }
        if (generation !== this.generation) return;
        this.painted.set(column, known);
        this.tell();
    }
}
