// The timeline of versions: a bar for each, as high as it has edges, and a slider that moves to another.

import { getJson } from '../api/client';
import type { Version, Versions } from '../api/types';
import { fail } from '../dom/announce';
import { button, el, put, settled } from '../dom/element';
import { several, shown, time } from '../dom/words';
import type { App } from '../state/app';
import { bars } from './bars';

const VERSIONS_MAX = 200;

export function versionsPanel(app: App, renewed: () => void): { element: HTMLElement; load(): Promise<void> } {
    const chart = el('div', { class: 'track' });
    const slider = el('input', { type: 'range', min: 0, step: 1, id: 'version', 'aria-label': 'Version' });
    const told = el('p', { id: 'version-told', role: 'status' });
    const measure = el('span', { class: 'aside' });
    const newest = button('Newest', () => app.store.change({ at: null }), { class: 'quiet' });
    const element = el('section', { class: 'time', id: 'versions', 'aria-label': 'Versions' },
        el('h2', {}, 'Versions ', measure), el('div', { class: 'stack' }, chart, slider), el('div', { class: 'line' }, told, newest));

    const place = (): number => {
        const { at } = app.state;
        if (at === null) return app.versions.findIndex(({ version }) => version === app.database.latest);
        return app.versions.findIndex(({ version, tag }) => String(version) === at || tag === at);
    };
    const show = (): void => {
        const at = place();
        slider.max = String(Math.max(app.versions.length - 1, 0));
        slider.value = String(at < 0 ? app.versions.length - 1 : at);
        slider.disabled = app.versions.length < 2;
        // The thumb, 16 pixels wide, stands below the middle of its bar.
        const number = Math.max(app.versions.length, 1);
        slider.style.marginLeft = `calc(${50 / number}% - 8px)`;
        slider.style.width = `calc(${100 - 100 / number}% + 16px)`;
        put(chart, bars(app.versions.map(({ edges }) => edges), (bar) => bar === at));
        const version = app.versions[at];
        put(told, version ? describe(version) : `As of ${app.state.at}`);
        slider.setAttribute('aria-valuetext', told.textContent ?? '');
        newest.hidden = app.state.at === null;
    };
    const move = settled(150, () => go(Number(slider.value)));
    const go = (to: number): void => {
        const version = app.versions[to];
        if (version) app.store.change({ at: version.version === app.database.latest ? null : String(version.version), difference: null });
    };
    chart.addEventListener('click', (event) => go(Math.floor((event.offsetX / chart.clientWidth) * app.versions.length)));
    slider.addEventListener('input', () => {
        const version = app.versions[Number(slider.value)];
        if (version) put(told, describe(version));
        move();
    });
    app.store.listen((state, before) => {
        if (state.at !== before.at) show();
    });
    const load = async (): Promise<void> => {
        try {
            const answer = await getJson<Versions>('versions', { limit: VERSIONS_MAX });
            app.versions = answer.versions;
            put(measure, shown(answer.shown, answer.found));
            show();
            renewed();
        } catch (error) {
            fail(error);
        }
    };
    return { element, load };
}

function describe({ version, time: when, vertices, edges, tag, message }: Version): string {
    const parts = [`Version ${version}${tag === null ? '' : ` (${tag})`}`, time(when), several(vertices, 'vertex', 'vertices'), several(edges, 'edge')];
    return parts.join(', ') + (message ? ` – ${message}` : '');
}
