// The page of `esker serve`: logs in, describes the database, and puts the panels together.

import { getJson } from './api/client';
import { enter } from './api/session';
import type { Catalogue, Database } from './api/types';
import { answerPanel } from './algorithms/answer';
import { algorithmPanel } from './algorithms/form';
import { announcers, fail, say } from './dom/announce';
import { button, el, put } from './dom/element';
import { several } from './dom/words';
import { differencePanel } from './panels/difference';
import { drawingPanel } from './panels/drawing';
import { filterPanel } from './panels/filter';
import { keysDialog, listenToKeys } from './panels/keys';
import { notice } from './panels/notice';
import { pathPanel } from './panels/path';
import { searchPanel } from './panels/search';
import { vertexPanel } from './panels/vertex';
import { Stage } from './stage';
import { App } from './state/app';
import { read, tie } from './state/link';
import { Store } from './state/state';
import { Brush } from './time/brush';
import { versionsPanel } from './time/versions';

function facts({ directed, vertices, edges }: Database): string {
    return `${directed ? 'directed' : 'undirected'}, ${several(vertices, 'vertex', 'vertices')}, ${several(edges, 'edge')}`;
}

async function start(root: HTMLElement): Promise<void> {
    const database = await enter(root);
    document.title = `${database.name} – Esker`;
    const store = new Store(read(location.hash));
    tie(store);
    const app = new App(database, store);
    const stage = new Stage(app);
    const difference = differencePanel(app);
    const versions = versionsPanel(app, difference.renew);
    const brush = new Brush(app);
    const dialog = keysDialog();
    const sizes = el('span', { class: 'aside', id: 'facts' }, facts(database));
    const algorithms = el('div');

    const see = async (): Promise<void> => {
        app.database = await getJson<Database>('database');
        put(sizes, facts(app.database));
        if (app.state.at === null) store.change({ at: null });
        else store.change({ at: null, difference: null });
        await Promise.all([stage.load(), versions.load(), brush.load()]);
        say(`Version ${app.database.latest} is shown.`);
    };
    put(root,
        el('header', { class: 'bar' }, el('h1', {}, 'Esker'), el('strong', { id: 'database' }, database.name), sizes, searchPanel(app),
            button('Keys', () => dialog.showModal(), { class: 'quiet', title: 'What the keyboard does (?)' })),
        ...notice(app, () => see().catch(fail)),
        el('main', { class: 'columns' },
            el('aside', { class: 'side', 'aria-label': 'Questions' }, filterPanel(app), pathPanel(app), algorithms, difference.element, drawingPanel(app)),
            el('div', { class: 'middle' }, stage.element, ...announcers(), el('div', { class: 'times' }, versions.element, brush.element)),
            el('aside', { class: 'side', 'aria-label': 'Answers' }, vertexPanel(app), answerPanel(app))),
        dialog);
    listenToKeys(app, stage.picture, stage.container, dialog, stage.turn);
    if (!stage.picture) say('This browser has no WebGL, so there is a table instead of the picture.');
    // The picture first: the rest can come while a person looks at it.
    await stage.load();
    await Promise.all([
        versions.load(), brush.load(),
        getJson<Catalogue>('algorithms').then((catalogue) => put(algorithms, algorithmPanel(app, catalogue))),
    ]);
}

const root = document.getElementById('app') as HTMLElement;
start(root).catch((error: unknown) => {
    put(root, el('main', { class: 'login' }, el('h1', {}, 'Esker'), ...announcers()));
    fail(error);
});
