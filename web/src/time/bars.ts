// A row of bars: edges by version, or by step of event time.

import { svg } from '../dom/element';

/** Fills its box: one unit of width a bar, one unit of height for the largest. */
export function bars(amounts: number[], chosen: (place: number) => boolean): SVGElement {
    const most = Math.max(...amounts, 1);
    // Few bars are no wider than one of twelve.
    const width = Math.min(amounts.length > 80 ? 0.95 : 0.85, amounts.length / 12);
    return svg('svg', { viewBox: `0 0 ${Math.max(amounts.length, 1)} 1`, preserveAspectRatio: 'none', class: 'bars', 'aria-hidden': 'true' },
        ...amounts.map((amount, place) => {
            const height = amount > 0 ? Math.max(amount / most, 0.04) : 0;
            return svg('rect', { x: place + (1 - width) / 2, y: 1 - height, width, height, class: chosen(place) ? 'chosen' : null });
        }));
}
