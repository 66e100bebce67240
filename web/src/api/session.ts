// Login: the token of the link becomes a cookie that scripts cannot read, and goes from the address.

import { fail } from '../dom/announce';
import { el, put } from '../dom/element';
import { Refusal, getJson, sendJson } from './client';
import type { Database } from './types';

/** Takes the token out of the address, so that it is in no history, bookmark or shared link. */
function takeToken(): string | null {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const token = fragment.get('token');
    if (token === null) return null;
    fragment.delete('token');
    const rest = fragment.toString();
    history.replaceState(null, '', location.pathname + location.search + (rest === '' ? '' : `#${rest}`));
    return token;
}

async function login(token: string): Promise<void> {
    await sendJson('POST', 'session', { token });
}

let refused: (error: unknown) => void = fail;

/** A link with a token that is pasted where the page is open changes the fragment only. It logs in and begins anew: the
 *  server may be another one than before. */
function listenToLinks(): void {
    window.addEventListener('popstate', () => {
        const token = takeToken();
        if (token !== null) login(token).then(() => location.reload()).catch((error: unknown) => refused(error));
    });
}

/** Logs in, by the token of the link or a form, and answers the description of the database. */
export async function enter(root: HTMLElement): Promise<Database> {
    listenToLinks();
    const token = takeToken();
    let reason = '';
    try {
        if (token !== null) await login(token);
        return await getJson<Database>('database');
    } catch (error) {
        if (!(error instanceof Refusal) || (error.status !== 401 && error.status !== 403)) throw error;
        reason = token === null ? '' : error.message;
    }
    return new Promise((resolve) => put(root, form(reason, resolve)));
}

function form(reason: string, entered: (database: Database) => void): HTMLElement {
    const alarm = el('p', { role: 'alert', class: 'wrong' }, reason);
    refused = (error) => put(alarm, error instanceof Error ? error.message : String(error));
    const input = el('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': 'Token or link' });
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        // Whole links are taken too: people copy those.
        const token = /token=([^&\s]+)/.exec(input.value)?.[1] ?? input.value.trim();
        try {
            await login(token);
            const database = await getJson<Database>('database');
            refused = fail;
            entered(database);
        } catch (error) {
            refused(error);
        }
    };
    return el('main', { class: 'login' },
        el('h1', {}, 'Esker'),
        el('p', {}, 'Open the link that esker serve printed, or enter it here.'),
        el('form', { onsubmit: (event: Event) => void submit(event) }, input, el('button', { type: 'submit' }, 'Log in')), alarm);
}
