// A brush over event times: two handles and the region between them choose a window; the region slides it, and a
// button plays it. Handles and region are sliders of the keyboard too.

import { getJson } from '../api/client';
import type { WindowCounts } from '../api/types';
import { fail } from '../dom/announce';
import { button, el, put, settled } from '../dom/element';
import { count, shortTime } from '../dom/words';
import type { App } from '../state/app';
import { differs, selection } from '../state/state';
import { bars } from './bars';

const STEPS = 60;
const PLAY_MS = 1200;

interface Range { from: number; to: number }

export class Brush {
    readonly element: HTMLElement;
    private counts: number[] = [];
    private limits: string[] = [];
    private range: Range = { from: 0, to: 0 };
    private timer = 0;
    private readonly chart = el('div', { class: 'track brush' });
    private readonly region = el('div', { class: 'region' });
    private readonly told = el('p', { id: 'window-told', role: 'status' });
    private readonly handles = { from: el('div', { class: 'handle' }), to: el('div', { class: 'handle' }) };
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
            fail(error);
        }
    }

    /** Takes the range from the state; a window with other limits than the steps' is drawn at the nearest. */
    private read(): void {
        const whole = { from: 0, to: this.counts.length };
        const [from, to] = (this.app.state.window ?? '').split('..');
        const places = { from: this.limits.indexOf(from), to: this.limits.indexOf(to ?? '') };
        this.range = { from: places.from < 0 ? 0 : places.from, to: places.to < 0 ? whole.to : places.to };
        this.draw();
    }

    private get isWhole(): boolean {
        return this.range.from === 0 && this.range.to === this.counts.length;
    }

    private draw(): void {
        const { from, to } = this.range;
        const steps = this.counts.length;
        put(this.chart, bars(this.counts, (place) => place >= from && place < to), this.region, this.handles.from, this.handles.to);
        const percent = (place: number): string => `${(100 * place) / steps}%`;
        this.region.style.left = percent(from);
        this.region.style.width = percent(to - from);
        this.handles.from.style.left = percent(from);
        this.handles.to.style.left = percent(to);
        const edges = this.counts.slice(from, to).reduce((sum, one) => sum + one, 0);
        const words = `${shortTime(this.limits[from])} to ${shortTime(this.limits[to])}: ${count(edges)} edges`;
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
        if (ends.from && ends.to) {
            const by = Math.min(Math.max(steps, -start.from), last - start.to);
            this.range = { from: start.from + by, to: start.to + by };
        } else if (ends.from) {
            this.range = { from: Math.min(Math.max(start.from + steps, 0), start.to - 1), to: start.to };
        } else {
            this.range = { from: start.from, to: Math.max(Math.min(start.to + steps, last), start.from + 1) };
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
        else if (this.range.to >= this.counts.length) this.range = { from: 0, to: this.range.to - this.range.from };
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
