// The answer of a run: figures, ranking, histogram, colours and sizes, downloads, and the command and the Python
// that give the same.

import { address } from '../api/client';
import type { Column, Done } from '../api/types';
import { fail, say } from '../dom/announce';
import { button, choice, el, field, put } from '../dom/element';
import { duration, several, value } from '../dom/words';
import type { App } from '../state/app';
import { drawHistogram } from './histogram';
import { ranking } from './ranking';

export function answerPanel(app: App): HTMLElement {
    const body = el('div');
    const old = el('p', { class: 'wrong', id: 'answer-old', role: 'status', hidden: true }, 'Of other options or another selection than those set now.');
    const panel = el('section', { id: 'answer', 'aria-label': 'Answer', hidden: true }, el('h2', {}, 'Answer'), old, body);
    app.store.listen(() => { old.hidden = !app.run.isOld; });
    let drawn: Done | null = null;
    app.run.listen(() => {
        const { done, phase } = app.run;
        old.hidden = !app.run.isOld;
        panel.hidden = phase !== 'done' || done === null;
        if (done === drawn) return;
        drawn = done;
        if (!done) {
            put(body);
            return;
        }
        put(body, ...describe(app, done));
        say(`${app.state.algorithm}: ${several(done.rows, 'row')} in ${duration(done.seconds)}`);
    });
    return panel;
}

function describe(app: App, done: Done): HTMLElement[] {
    const columns = app.run.columns();
    const figures = Object.entries(done.figures).flatMap(([name, any]) => [el('dt', {}, name), el('dd', {}, value(any))]);
    const parts: HTMLElement[] = [
        el('p', {}, el('strong', {}, app.state.algorithm ?? ''), ` – ${several(done.rows, 'row')} in ${duration(done.seconds)}`),
        ...(done.notes ?? []).map((note) => el('p', { class: 'aside' }, note)),
        el('dl', { class: 'facts', id: 'figures' }, ...figures),
    ];
    if (done.rows > 0) {
        parts.push(ranking(app, columns));
        if (!done.edges && columns.length > 0) parts.push(painting(app, columns));
        const counted = columns.filter(({ type }) => type !== 'text');
        if (counted.length > 0) parts.push(histograms(app, counted));
    }
    parts.push(downloads(app));
    // A window has no words there.
    if (done.command !== '') parts.push(same('Command', done.command, 'command'));
    if (done.python !== '') parts.push(same('Python', done.python, 'python'));
    return parts;
}

/** Which columns colour and size the picture. */
function painting(app: App, columns: Column[]): HTMLElement {
    const names = columns.map(({ name }): [string, string] => [name, name]);
    const numeric = columns.filter(({ type }) => type === 'integer' || type === 'number').map(({ name }): [string, string] => [name, name]);
    const colour = choice([['', 'as drawn'], ...names], app.state.paintColour ?? '', (name) => app.store.change({ paintColour: name || null }));
    const size = choice([['', 'as drawn'], ...numeric], app.state.paintSize ?? '', (name) => app.store.change({ paintSize: name || null }));
    colour.id = 'paint-colour';
    size.id = 'paint-size';
    app.store.listen(({ paintColour, paintSize }) => {
        colour.value = paintColour ?? '';
        size.value = paintSize ?? '';
    });
    return el('div', { class: 'fields' }, field('Colours', colour), field('Sizes', size));
}

function histograms(app: App, columns: Column[]): HTMLElement {
    const chart = el('div', { class: 'chart', id: 'histogram' });
    const show = async (column: string): Promise<void> => {
        try {
            drawHistogram(chart, column, await app.run.histogram(column));
        } catch (error) {
            fail(error);
        }
    };
    const pick = choice(columns.map(({ name }) => [name, name]), columns[0].name, (name) => void show(name));
    pick.setAttribute('aria-label', 'Column of the histogram');
    void show(columns[0].name);
    return el('div', {}, el('h3', {}, 'Distribution ', columns.length > 1 && pick), chart);
}

function downloads(app: App): HTMLElement {
    const links = [['csv', 'CSV'], ['parquet', 'Parquet'], ['arrow', 'Arrow']].map(([format, text]) =>
        el('a', { href: address(`runs/${app.run.id}/download`, { format }), download: `${app.database.name}-${app.run.algorithm}-${app.run.id}.${format}`, class: 'button' }, text));
    return el('div', { class: 'actions', id: 'downloads' }, el('span', {}, 'Download'), ...links);
}

/** Words that give the same answer elsewhere, with a button that copies them. */
function same(title: string, text: string, id: string): HTMLElement {
    const copy = async (): Promise<void> => {
        try {
            await navigator.clipboard.writeText(text);
            say(`${title} copied.`);
        } catch {
            getSelection()?.selectAllChildren(code); // the browser allows no copying: it is selected at least
        }
    };
    const code = el('code', { id }, text);
    return el('div', { class: 'same' }, el('h3', {}, `${title} `, button('Copy', () => void copy(), { class: 'quiet', 'aria-label': `Copy: ${title}` })), el('pre', { tabindex: 0 }, code));
}
