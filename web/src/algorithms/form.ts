// The form of an algorithm, made of its entry in the catalogue: a choice grouped by question, a field for each
// option, the estimate of what a run needs.

import { sendJson } from '../api/client';
import type { Algorithm, Catalogue, Estimate } from '../api/types';
import { button, el, put, settled } from '../dom/element';
import { bytes, duration } from '../dom/words';
import type { App } from '../state/app';
import { differs } from '../state/state';
import { optionField, weightField } from './option';

/** A run that takes no longer starts by itself when a link that had it is opened. */
const SECONDS_BY_ITSELF = 5;

export function algorithmPanel(app: App, catalogue: Catalogue): HTMLElement {
    const known = new Map(catalogue.groups.flatMap(({ algorithms }) => algorithms).map((entry) => [entry.name, entry]));
    const picker = el('select', { id: 'algorithm', 'aria-label': 'Algorithm', onchange: () => pick(picker.value) },
        el('option', { value: '' }, 'Choose an algorithm'),
        ...catalogue.groups.map(({ question, algorithms }) =>
            el('optgroup', { label: question }, ...algorithms.map(({ name }) => el('option', { value: name }, name)))));
    const about = el('p', { class: 'aside' });
    const fields = el('div', { class: 'fields' });
    const estimate = el('p', { id: 'estimate', role: 'status' });
    const run = button('Run', () => void app.run.start(), { id: 'run', class: 'main' });
    const progress = el('div', { class: 'progress', id: 'progress', hidden: true });
    const panel = el('details', { id: 'algorithms', open: true }, el('summary', {}, 'Algorithm'), picker, about, fields, estimate, run, progress);

    const pick = (name: string): void => {
        void app.run.forget();
        app.store.change({ algorithm: name === '' ? null : name, options: {}, weight: null, ran: false, paintColour: null, paintSize: null });
    };
    let newest = 0;
    const ask = async (): Promise<Estimate | null> => {
        const mine = (newest += 1);
        const entry = known.get(app.state.algorithm ?? '');
        if (!entry || missing(entry, app).length > 0) {
            put(estimate, entry ? `Needs ${missing(entry, app).join(', ')}.` : '');
            return null;
        }
        try {
            const answer = await sendJson<Estimate>('POST', 'estimate', app.run.body());
            if (mine !== newest) return null;
            put(estimate, answer.fits && answer.seconds !== null ? `Takes ${duration(answer.seconds)} and ${bytes(answer.memory_bytes)} of memory` : answer.text);
            estimate.classList.toggle('wrong', !answer.fits);
            return answer;
        } catch (error) {
            if (mine === newest) put(estimate, error instanceof Error ? error.message : String(error));
            return null;
        }
    };
    const askLater = settled(250, () => void ask());
    const askSoon = (): void => {
        newest += 1; // an answer that is under way is about other options
        put(estimate);
        allow();
        askLater();
    };
    /** A run needs the options that are required, and begins when the one before has ended. */
    const allow = (): void => {
        const entry = known.get(app.state.algorithm ?? '');
        run.disabled = app.run.phase === 'running' || !entry || missing(entry, app).length > 0;
    };
    const show = (): void => {
        const entry = known.get(app.state.algorithm ?? '') ?? null;
        picker.value = entry?.name ?? '';
        put(about, entry?.about ?? '');
        put(fields, ...(entry?.options ?? []).map((option) => optionField(app, option)), entry && weightField(app));
        run.hidden = entry === null;
    };
    app.store.listen((state, before) => {
        if (state.algorithm !== before.algorithm) show();
        if (differs(state, before, ['algorithm', 'options', 'weight', 'at', 'window', 'where', 'kind', 'reverse', 'undirected'])) askSoon();
    });
    app.run.listen(() => {
        allow();
        drawProgress(app, progress);
    });
    show();
    allow();
    void ask().then((answer) => {
        const short = answer !== null && answer.fits && (answer.seconds ?? 0) <= SECONDS_BY_ITSELF;
        if (app.state.ran && short) void app.run.start();
    });
    return panel;
}

function missing(entry: Algorithm, { state }: App): string[] {
    return entry.options.filter(({ name, required }) => required && !state.options[name]?.length).map(({ name }) => name);
}

function drawProgress(app: App, element: HTMLElement): void {
    const { phase, progress, failure } = app.run;
    element.hidden = phase === 'none' || phase === 'done';
    if (phase === 'running') {
        const { part, text } = progress;
        const [shown, status] = [element.querySelector('progress'), element.querySelector('span')];
        if (shown !== null && status !== null) {
            // The button stays the same element: a click begins and ends on one.
            if (part === null) shown.removeAttribute('value');
            else shown.value = part;
            status.textContent = text;
            return;
        }
        const bar = el('progress', { max: 1, value: part, 'aria-label': 'Progress' });
        put(element, bar, el('span', { role: 'status' }, text), button('Cancel', () => void app.run.cancel(), { id: 'cancel' }));
    } else {
        put(element, el('span', { role: phase === 'failed' ? 'alert' : 'status', class: phase === 'failed' ? 'wrong' : null },
            phase === 'failed' ? failure : phase === 'cancelled' ? 'Cancelled.' : ''));
    }
}
