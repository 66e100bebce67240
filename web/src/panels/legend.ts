// What the colours of the picture stand for, and how much of the graph is shown.

import { el, put } from '../dom/element';
import type { Look } from '../picture/look';

const LINES_MAX = 9;

/** A dot of a colour: an image of SVG, since the security policy allows no style in markup. */
export function dot(colour: string): SVGElement {
    const namespace = 'http://www.w3.org/2000/svg';
    const image = document.createElementNS(namespace, 'svg');
    image.setAttribute('viewBox', '0 0 10 10');
    image.setAttribute('class', 'dot');
    image.setAttribute('aria-hidden', 'true');
    const circle = document.createElementNS(namespace, 'circle');
    for (const [name, value] of [['cx', '5'], ['cy', '5'], ['r', '5'], ['fill', colour]]) circle.setAttribute(name, value);
    image.append(circle);
    return image;
}

export function drawLegend(element: HTMLElement, { legend }: Look): void {
    const { title, lines, note } = legend;
    element.hidden = lines.length === 0 && note === '';
    put(element,
        lines.length > 0 && el('h3', {}, title),
        el('ul', {}, ...lines.slice(0, LINES_MAX).map(({ text, colour }) => el('li', {}, dot(colour), el('span', { title: text }, text)))),
        note !== '' && el('p', { class: 'aside' }, note));
}
