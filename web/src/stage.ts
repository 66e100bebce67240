// The middle of the page: the picture or the table or both, with legend and measure; what draws them anew.

import { Refusal } from './api/client';
import { allDrawn } from './content/expand';
import { fail, calm, say } from './dom/announce';
import { button, el, put } from './dom/element';
import { count, several } from './dom/words';
import { changesContent, load, wrongConditions } from './content/load';
import { drawnChips } from './panels/drawn';
import { drawLegend } from './panels/legend';
import { tablePanel } from './panels/table';
import { onTheme } from './picture/colours';
import { type Look, look } from './picture/look';
import { Picture, canDraw } from './picture/picture';
import { save } from './picture/save';
import type { App } from './state/app';

/** Beyond this a picture shows no more than a cloud: the table takes over until the person wants otherwise. */
const PICTURE_MAX = 400;
const VIEWS = ['picture', 'both', 'table'] as const;
type View = (typeof VIEWS)[number];

export class Stage {
    readonly element: HTMLElement;
    readonly container = el('div', { id: 'picture', tabindex: 0, role: 'application', 'aria-label': 'Picture' });
    readonly picture: Picture | null;
    private readonly table;
    private readonly legend = el('div', { class: 'legend', id: 'legend', hidden: true });
    private readonly measure = el('p', { class: 'measure', id: 'measure', role: 'status' });
    private readonly views = el('div', { class: 'views', role: 'group', 'aria-label': 'View' });
    private readonly saving = [button('SVG', () => this.save('svg'), { id: 'save-svg', title: 'Save the picture as SVG' }), button('PNG', () => this.save('png'), { id: 'save-png', title: 'Save the picture as PNG' })];
    private current = new AbortController();

    constructor(private readonly app: App) {
        const { store } = app;
        this.picture = canDraw()
            ? new Picture(this.container, { select: (id) => store.change({ selected: id }), expand: (id) => app.expand(id) }, app.database.directed)
            : null;
        this.table = tablePanel(app);
        this.element = el('section', { class: 'stage', 'aria-label': 'Graph' }, this.tools(), drawnChips(app),
            el('div', { class: 'halves' }, el('div', { class: 'canvas' }, this.legend, this.container), this.table.element), this.measure);
        app.store.listen((state, before) => {
            if (changesContent(state, before)) void this.load();
            if (state.selected !== before.selected) this.select(state.selected);
            if (state.view !== before.view) this.arrange();
            if (state.paintColour !== before.paintColour || state.paintSize !== before.paintSize) void this.fetchPaints();
        });
        let phase = app.run.phase;
        app.run.listen(() => {
            if (app.run.phase === 'done') void this.fetchPaints();
            else if (app.run.phase !== phase) this.paint(); // the colours of the answer before are gone
            phase = app.run.phase;
        });
        onTheme(() => this.draw());
    }

    look(): Look {
        const { state, run, content } = this.app;
        return look(content, { colour: state.colour, difference: state.difference !== null, paintColour: run.paint(state.paintColour), paintSize: run.paint(state.paintSize) });
    }

    async load(): Promise<void> {
        this.current.abort();
        this.current = new AbortController();
        const { signal } = this.current;
        this.element.setAttribute('aria-busy', 'true');
        try {
            const content = await load(this.app.state, this.app.database, signal);
            if (signal.aborted) return;
            calm();
            this.app.setWrong(new Map());
            const known = this.app.content.expansions;
            for (const [id, expansion] of content.expansions) if (!known.has(id) && expansion.added === 0) say(allDrawn(id, expansion));
            delete this.element.dataset.stale;
            this.app.setContent(content);
            this.arrange();
            this.draw();
            performance.mark('picture');
            await this.fetchPaints();
        } catch (error) {
            if (!signal.aborted) await this.fail(error, signal);
        } finally {
            if (!signal.aborted) this.element.setAttribute('aria-busy', 'false');
        }
    }

    /** Says why there is no picture of the state. The one before stays, pale: the person may want to go on from it. */
    private async fail(error: unknown, signal: AbortSignal): Promise<void> {
        const { state, database } = this.app;
        this.app.isStale = true;
        const isRefused = error instanceof Refusal && error.status === 400;
        const wrong = isRefused ? await wrongConditions(state, database, signal) : new Map<string, string>();
        if (signal.aborted) return;
        this.app.setWrong(wrong);
        // The conditions and the panel of the vertex say these themselves.
        const isUnknown = error instanceof Refusal && error.kind === 'vertex_not_found' && state.focus.length === 1 && state.focus[0] === state.selected;
        if (wrong.size > 0 || isUnknown) calm();
        else fail(error);
        this.element.dataset.stale = 'true';
        put(this.measure, this.app.content.vertices.size > 0 ? 'This is the picture of before: what is chosen now cannot be shown.' : 'What is chosen cannot be shown.');
    }

    /** Picture, both, table, and again. */
    readonly turn = (): void => {
        this.app.store.change({ view: VIEWS[(VIEWS.indexOf(this.view()) + 1) % VIEWS.length] });
    };

    private view(): View {
        const { view } = this.app.state;
        if (!this.picture) return 'table';
        if (view !== 'auto') return view;
        return this.app.content.vertices.size > PICTURE_MAX ? 'table' : 'picture';
    }

    private arrange(): void {
        const view = this.view();
        const before = this.table.element.hidden;
        this.element.dataset.view = view;
        this.table.element.hidden = view === 'picture';
        for (const one of this.views.querySelectorAll('button')) one.setAttribute('aria-pressed', String(one.dataset.view === view));
        for (const one of this.saving) one.disabled = view === 'table';
        if (before && !this.table.element.hidden) this.table.renew();
    }

    private draw(): void {
        const { content, state, database } = this.app;
        const drawn = this.look();
        this.picture?.show(content, drawn);
        this.picture?.select(state.selected);
        drawLegend(this.legend, drawn);
        const sizes = `${several(content.vertices.size, 'vertex', 'vertices')}, ${several(content.edges.length, 'edge')}`;
        this.container.setAttribute('aria-label', `Picture of ${sizes}. Arrow keys select a vertex, Enter adds its neighbours.`);
        const expansions = [...content.expansions].map(([id, { shown, found }]) => `${count(shown)} of ${several(found, 'neighbour')} of ${id}`);
        const why = state.view === 'auto' && content.vertices.size > PICTURE_MAX ? `more than ${PICTURE_MAX}, so as a table` : '';
        const vertices = content.vertices.size < content.found
            ? `${count(content.vertices.size)} of ${several(content.found, 'vertex', 'vertices')} shown` : `all ${several(content.vertices.size, 'vertex', 'vertices')} shown`;
        put(this.measure, [content.measure || vertices, several(content.edges.length, 'edge'), ...expansions, why].filter((text) => text !== '').join(' · '));
        if (content.vertices.size === 0) put(this.measure, database.vertices === 0 ? 'The database has no vertices.' : 'Nothing matches.');
    }

    private paint(): void {
        const drawn = this.look();
        this.picture?.paint(this.app.content, drawn);
        drawLegend(this.legend, drawn);
    }

    private async fetchPaints(): Promise<void> {
        const { paintColour, paintSize } = this.app.state;
        try {
            for (const column of new Set([paintColour, paintSize])) if (column !== null) await this.app.run.fetchPaint(column);
        } catch (error) {
            fail(error);
        }
        this.paint();
    }

    private select(id: string | null): void {
        this.picture?.select(id);
    }

    private tools(): HTMLElement {
        const names = { picture: 'Picture', both: 'Both', table: 'Table' };
        this.views.append(...VIEWS.map((view) => button(names[view], () => this.app.store.change({ view }), { 'data-view': view, 'aria-pressed': 'false' })));
        return el('div', { class: 'tools' }, this.views,
            el('div', { role: 'group', 'aria-label': 'Camera' },
                button('+', () => this.picture?.zoom(0.7), { 'aria-label': 'Zoom in' }), button('−', () => this.picture?.zoom(1.4), { 'aria-label': 'Zoom out' }),
                button('Fit', () => this.picture?.fit(), { title: 'Show everything (0)' }), button('Centre', () => this.picture?.centre(), { title: 'The selected vertex in the middle (c)' })),
            el('div', { role: 'group', 'aria-label': 'Save the picture' }, ...this.saving));
    }

    private save(form: 'svg' | 'png'): void {
        if (this.picture) save(form, this.app.database, this.app.content, this.look(), this.picture).catch(fail);
    }
}
