// Makes elements. All text goes in as text nodes or attributes: no function of this page takes markup, so an id such
// as `<img src=x>` is shown as it is written.

export type Child = Node | string | number | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: never) => void);

const SVG = 'http://www.w3.org/2000/svg';

function fill(element: Element, attributes: Record<string, Attribute>, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') {
            element.addEventListener(name.slice(2), value as EventListener);
        } else if (value === true) {
            element.setAttribute(name, '');
        } else if (value !== false && value !== null && value !== undefined) {
            element.setAttribute(name, String(value));
        }
    }
    element.append(...kept(children));
}

function kept(children: Child[]): (Node | string)[] {
    return children
        .filter((child) => child !== null && child !== undefined && child !== false)
        .map((child) => (child instanceof Node ? child : String(child)));
}

/** An element of HTML. Attributes that begin with `on` are listeners; false and null leave an attribute out. */
export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Record<string, Attribute> = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
}

/** An element of SVG. */
export function svg(tag: string, attributes: Record<string, Attribute> = {}, ...children: Child[]): SVGElement {
    const element = document.createElementNS(SVG, tag) as SVGElement;
    fill(element, attributes, children);
    return element;
}

/** Replaces what an element contains. */
export function put(element: Element, ...children: Child[]): void {
    element.replaceChildren(...kept(children));
}

/** A button with a text, and a listener. */
export function button(text: string, onclick: () => void, attributes: Record<string, Attribute> = {}): HTMLButtonElement {
    return el('button', { type: 'button', onclick, ...attributes }, text);
}

/** A labelled control: a click on the label goes to the control. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
    const text = el('span', { class: 'name' }, label);
    return el('label', { class: 'field', title: hint ?? null }, text, control);
}

/** A choice of values with their texts. */
export function choice(values: [string, string][], value: string, onchange: (value: string) => void): HTMLSelectElement {
    const options = values.map(([key, text]) => el('option', { value: key, selected: key === value }, text));
    const select = el('select', { onchange: () => onchange(select.value) }, ...options);
    return select;
}

/** Runs a function once after calls have stopped for some milliseconds. */
export function settled(ms: number, run: () => void): () => void {
    let timer = 0;
    return () => {
        clearTimeout(timer);
        timer = window.setTimeout(run, ms);
    };
}

/** Draws a part of the page anew. The control that had the focus has it again, if it comes again: the one with the same id
 *  or `data-key`. Without that, the keyboard would begin at the top of the page after each change. */
export function keepingFocus(part: Element, draw: () => void): void {
    const active = document.activeElement;
    const key = active && part.contains(active) ? active.id || active.getAttribute('data-key') : null;
    draw();
    if (!key) return;
    for (const control of part.querySelectorAll<HTMLElement>('[id], [data-key]')) {
        if (control.id === key || control.getAttribute('data-key') === key) control.focus({ preventScroll: true });
    }
}
