// The field of one option of an algorithm, by its type; and the choice of the weights.

import type { Option } from '../api/types';
import { vertexField } from '../dom/completion';
import { button, choice, el, field, put } from '../dom/element';
import type { App } from '../state/app';
import { numericProperties } from '../state/properties';

export function optionField(app: App, option: Option): HTMLElement {
    const { name, about } = option;
    const set = (values: string[]): void => {
        const { [name]: _, ...rest } = app.state.options;
        app.store.change({ options: values.length === 0 ? rest : { ...rest, [name]: values } });
    };
    if (option.repeatable) return severalField(app, option, set);
    const one = (text: string): void => set(text === '' ? [] : [text]);
    const now = app.state.options[name]?.[0] ?? '';
    if (option.type === 'vertex') return withCompletion(app, option, now, one);
    const control = single(option, now, one);
    control.id = `option-${name}`;
    return field(label(option), control, about);
}

function single(option: Option, now: string, set: (text: string) => void): HTMLElement {
    const standard = option.default === null || option.default === undefined ? '' : String(option.default);
    if (option.choices && option.choices.length > 0) {
        const rest = option.choices.filter((one) => one !== standard).map((one): [string, string] => [one, one]);
        return choice([['', standard === '' ? 'default' : standard], ...rest], now, set);
    }
    if (option.type === 'boolean') return choice([['', 'no'], ['true', 'yes']], now, set);
    const numeric = option.type === 'integer' || option.type === 'number';
    const input = el('input', {
        type: numeric ? 'number' : 'text', step: option.type === 'integer' ? 1 : 'any', placeholder: standard,
        required: option.required, oninput: () => set(input.value.trim()),
    });
    input.value = now;
    return input;
}

function withCompletion(app: App, option: Option, now: string, set: (text: string) => void): HTMLElement {
    const completed = vertexField(label(option), now, set, app.at);
    completed.input.addEventListener('change', () => set(completed.input.value.trim()));
    completed.input.id = `option-${option.name}`;
    return el('div', { class: 'field', title: option.about }, el('span', { class: 'name' }, label(option)), completed.element);
}

/** An option that may be given several times: its values as chips, and a field for one more. */
function severalField(app: App, option: Option, set: (values: string[]) => void): HTMLElement {
    const chips = el('ul', { class: 'chips', 'aria-label': option.name });
    const values = (): string[] => app.state.options[option.name] ?? [];
    const change = (next: string[]): void => {
        set(next);
        draw();
    };
    const add = (text: string): void => {
        completed.input.value = '';
        if (text !== '' && !values().includes(text)) change([...values(), text]);
    };
    const draw = (): void => put(chips, ...values().map((one) => el('li', {}, el('span', { class: 'id' }, one),
        button('×', () => change(values().filter((other) => other !== one)), { class: 'quiet', 'aria-label': `Remove ${one}` }))));
    const completed = vertexField(label(option), '', add, app.at);
    completed.input.addEventListener('change', () => add(completed.input.value.trim()));
    completed.input.id = `option-${option.name}`;
    draw();
    return el('div', { title: option.about },
        el('div', { class: 'field' }, el('span', { class: 'name' }, label(option)), completed.element), chips);
}

/** Which edge property an algorithm takes for weights. One that reads none says so. */
export function weightField(app: App): HTMLElement | null {
    const names = numericProperties(app.database.edge_properties);
    if (names.length === 0) return null;
    const control = choice([['', 'none'], ...names], app.state.weight ?? '', (name) => app.store.change({ weight: name || null }));
    control.id = 'option-weight';
    return field('weights', control, 'The edge property that weights come from');
}

function label({ name, required }: Option): string {
    return required ? `${name} *` : name;
}
