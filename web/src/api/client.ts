// Requests to the server. Errors become sentences; the session's cookie goes along by itself.

type Value = string | number | boolean | null | undefined;
export type Parameters = Record<string, Value | readonly string[]>;

/** What the server refused, in its words. */
export class Refusal extends Error {
    constructor(message: string, readonly status: number, readonly kind: string) {
        super(message);
    }
}

const ROOT = 'api/v1/';

/** The address of a call. A parameter with several values is repeated, since ids may hold commas. */
export function address(call: string, parameters: Parameters = {}): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
        if (Array.isArray(value)) {
            for (const one of value) query.append(name, one);
        } else if (value !== null && value !== undefined && value !== false && value !== '') {
            query.append(name, String(value));
        }
    }
    const text = query.toString();
    return ROOT + call + (text === '' ? '' : `?${text}`);
}

async function request(url: string, init: RequestInit): Promise<unknown> {
    let response: Response;
    try {
        response = await fetch(url, { credentials: 'same-origin', ...init });
    } catch (error) {
        if (error instanceof DOMException) throw error;
        throw new Refusal('The server does not answer. Does `esker serve` still run?', 0, 'unreachable');
    }
    if (response.status === 204) return null;
    const answer = await response.json().catch(() => null);
    if (response.ok) return answer;
    const told = (answer as { error?: { message?: string; kind?: string } } | null)?.error;
    throw new Refusal(told?.message ?? `The server refused this (${response.status}).`, response.status, told?.kind ?? 'unknown');
}

export async function getJson<T>(call: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    return (await request(address(call, parameters), { signal })) as T;
}

export async function sendJson<T>(method: 'POST' | 'DELETE', call: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return (await request(ROOT + call, { method, signal, headers, body: body === undefined ? undefined : JSON.stringify(body) })) as T;
}

const answers = new Map<string, unknown>();
const ANSWERS_MAX = 100;

/** As `getJson`, and remembers the answer: an expansion asks only for what is new. All calls name a version. */
export async function remembered<T>(call: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
    const url = address(call, parameters);
    if (answers.has(url)) return answers.get(url) as T;
    const answer = (await request(url, { signal })) as T;
    if (answers.size >= ANSWERS_MAX) answers.delete(answers.keys().next().value as string);
    answers.set(url, answer);
    return answer;
}
