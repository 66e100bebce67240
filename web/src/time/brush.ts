// A brush over event times: two handles and the region between them choose a window; the region slides it, and a
// button plays it. Handles and region are sliders of the keyboard too.

import { Refusal, getJson } from '../api/client';
import type { WindowCounts } from '../api/types';
import { fail } from '../dom/announce';
import { button, el, put, settled } from '../dom/element';
import { several, shortTime } from '../dom/words';
import type { App } from '../state/app';
import { differs, selection } from '../state/state';
import { bars } from './bars';

const STEPS = 60;
const PLAY_MS = 1200;

interface Range { from: number; to: number }

/** The moment of a bound: a number as it is, or a time in milliseconds. NaN of what is neither. */
function begin(text: string): number {
    return text.trim() === '' ? Number.NaN : /^[-+\d.]+$/.test(text) && !/\d-/.test(text) ? Number(text) : Date.parse(text);
}

/** A day that ends a window belongs to it wholly. */
function end(text: string): number {
    return begin(text) + (/^\d{4}-\d\d-\d\d$/.test(text) ? 86_400_000 : 0);
}

export class Brush {
    readonly element: HTMLElement;
    private counts: number[] = [];
    private limits: string[] = [];
    private range: Range = { from: 0, to: 0 };
    /** A window that does not begin and end with steps: in its own words, with its number of edges once that is known. */
    private exact: { window: string; counts: number[] | null } | null = null;
    private timer = 0;
    private readonly bars = el('div');
    private readonly region = el('div', { class: 'region' });
    private readonly told = el('p', { id: 'window-told', role: 'status' });
    private readonly handles = { from: el('div', { class: 'handle' }), to: el('div', { class: 'handle' }) };
    /** Its parts stay while bars change: an element that leaves the page loses the pointer that drags it. */
    private readonly chart = el('div', { class: 'track brush' }, this.bars, this.region, this.handles.from, this.handles.to);
    private readonly playing = button('Play', () => this.play(), { id: 'play' });
    private readonly all = button('All times', () => this.app.store.change({ window: null }), { class: 'quiet', id: 'all-times' });
    private readonly apply = settled(200, () => this.change());

    constructor(private readonly app: App) {
        this.element = el('section', { class: 'time', id: 'window', 'aria-label': 'Event times', hidden: true },
            el('h2', {}, 'Event times'), el('div', { class: 'stack' }, this.chart), el('div', { class: 'line' }, this.told, this.playing, this.all));
        this.slides(this.region, 'Window of event times', { from: true, to: true });
        this.slides(this.handles.from, 'Begin of the window', { from: true, to: false });
        this.slides(this.handles.to, 'End of the window', { from: false, to: true });
        app.store.listen((state, before) => {
            if (state.window !== before.window) this.read();
            if (differs(state, before, ['at', 'where', 'kind'])) void this.load();
        });
    }

    async load(): Promise<void> {
        if (!this.app.database.event_times) return;
        const { at, where, kind } = selection(this.app.state, this.app.database.latest);
        try {
            const { counts, limits } = await getJson<WindowCounts>('window', { steps: STEPS, at, where, kind });
            if (counts.length === 0 || limits.length !== counts.length + 1) return;
            [this.counts, this.limits] = [counts, limits];
            this.element.hidden = false;
            this.read();
        } catch (error) {
            // What is wrong with a condition is said at it.
            if (error instanceof Refusal && error.status === 400 && this.app.state.where.length > 0) return;
            fail(error);
        }
    }

    /** Takes the range from the state; a window with other limits than the steps' is drawn at the nearest. */
    private read(): void {
        if (this.counts.length === 0) return;
        const { window } = this.app.state;
        const [from, to] = (window ?? '').split('..');
        const places = { from: this.limits.indexOf(from), to: this.limits.indexOf(to ?? '') };
        this.exact = null;
        if (window === null) {
            this.range = { from: 0, to: this.counts.length };
        } else if (places.from >= 0 && places.to > places.from) {
            this.range = places;
        } else {
            this.exact = { window, counts: null };
            this.range = { from: this.nearest(begin(from), 0), to: this.nearest(end(to ?? ''), this.counts.length) };
            void this.countExact(this.exact);
        }
        this.draw();
    }

    /** The limit that is nearest to a time; times beyond the version's are nearest to its first or last. */
    private nearest(time: number, otherwise: number): number {
        if (Number.isNaN(time)) return otherwise;
        const distances = this.limits.map((limit) => Math.abs(begin(limit) - time));
        return distances.indexOf(Math.min(...distances));
    }

    private async countExact(exact: { window: string; counts: number[] | null }): Promise<void> {
        const { at, where, kind } = selection(this.app.state, this.app.database.latest);
        try {
            const { counts } = await getJson<WindowCounts>('window', { steps: STEPS, at, where, kind, window: exact.window });
            if (this.exact !== exact) return;
            exact.counts = counts;
            // A length such as `7d` has no ends: its edges tell where it is.
            const used = counts.flatMap((amount, step) => (amount > 0 ? [step] : []));
            if (!exact.window.includes('..') && used.length > 0) this.range = { from: used[0], to: used[used.length - 1] + 1 };
            this.draw();
        } catch {
            // What is wrong with the window is said where the picture is drawn.
        }
    }

    private get isWhole(): boolean {
        return this.range.from === 0 && this.range.to === this.counts.length;
    }

    private draw(): void {
        const { from, to } = this.range;
        const steps = this.counts.length;
        put(this.bars, bars(this.counts, (place) => place >= from && place < to));
        const percent = (place: number): string => `${(100 * place) / steps}%`;
        this.region.style.left = percent(from);
        this.region.style.width = percent(to - from);
        this.handles.from.style.left = percent(from);
        this.handles.to.style.left = percent(to);
        const counts = this.exact ? this.exact.counts : this.counts.slice(from, to);
        // Steps of seconds or more begin within a second, which nobody wants to read.
        const fine = begin(this.limits[steps]) - begin(this.limits[0]) < STEPS * 1000;
        const ends = this.exact ? this.exact.window.split('..').map((one) => shortTime(one)).join(' to ') : `${shortTime(this.limits[from], fine)} to ${shortTime(this.limits[to], fine)}`;
        const words = counts ? `${ends}: ${several(counts.reduce((sum, one) => sum + one, 0), 'edge')}` : ends;
        put(this.told, words);
        for (const [element, place] of [[this.region, from], [this.handles.from, from], [this.handles.to, to]] as const) {
            element.setAttribute('aria-valuenow', String(place));
            element.setAttribute('aria-valuemin', '0');
            element.setAttribute('aria-valuemax', String(steps));
            element.setAttribute('aria-valuetext', words);
        }
        this.all.hidden = this.app.state.window === null;
    }

    private change(): void {
        const { from, to } = this.range;
        this.app.store.change({ window: this.isWhole ? null : `${this.limits[from]}..${this.limits[to]}`, difference: null });
    }

    /** Moves ends of the range by some steps from where they were. A region keeps its length at the borders. */
    private shift(start: Range, ends: { from: boolean; to: boolean }, steps: number): void {
        const last = this.counts.length;
        this.exact = null;
        // A window beyond the version's times has both handles at one end.
        const from = Math.min(start.from, last - 1);
        const to = Math.max(start.to, from + 1);
        if (ends.from && ends.to) {
            const by = Math.min(Math.max(steps, -from), last - to);
            this.range = { from: from + by, to: to + by };
        } else if (ends.from) {
            this.range = { from: Math.min(Math.max(from + steps, 0), to - 1), to };
        } else {
            this.range = { from, to: Math.max(Math.min(to + steps, last), from + 1) };
        }
        this.draw();
        this.apply();
    }

    private slides(element: HTMLElement, label: string, ends: { from: boolean; to: boolean }): void {
        element.setAttribute('role', 'slider');
        element.setAttribute('tabindex', '0');
        element.setAttribute('aria-label', label);
        element.addEventListener('keydown', (event) => {
            const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
            if (steps === undefined) return;
            event.preventDefault();
            this.shift(this.range, ends, steps);
        });
        element.addEventListener('pointerdown', (event) => {
            event.preventDefault();
            element.focus();
            element.setPointerCapture(event.pointerId);
            const start = { ...this.range };
            const step = this.chart.clientWidth / this.counts.length;
            const move = (to: PointerEvent): void => this.shift(start, ends, Math.round((to.clientX - event.clientX) / step));
            element.addEventListener('pointermove', move);
            element.addEventListener('lostpointercapture', () => element.removeEventListener('pointermove', move), { once: true });
        });
    }

    /** Slides the window to the end, a step at a time; a window of all times begins with a tenth. */
    private play(): void {
        if (this.timer !== 0) {
            this.stop();
            return;
        }
        if (this.isWhole) this.range = { from: 0, to: Math.max(1, Math.round(this.counts.length / 10)) };
        else if (this.range.to >= this.counts.length) this.range = { from: 0, to: Math.max(1, this.range.to - this.range.from) };
        this.exact = null;
        this.draw();
        this.change();
        put(this.playing, 'Stop');
        this.timer = window.setInterval(() => {
            if (this.range.to >= this.counts.length) this.stop();
            else this.shift(this.range, { from: true, to: true }, 1);
        }, PLAY_MS);
    }

    private stop(): void {
        clearInterval(this.timer);
        this.timer = 0;
        put(this.playing, 'Play');
    }
}
