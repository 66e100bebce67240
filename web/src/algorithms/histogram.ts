// The distribution of a column of an answer, drawn by uPlot; of groups, their sizes.

import uPlot from 'uplot';
import type { Histogram } from '../api/types';
import { el, put } from '../dom/element';
import { count, value } from '../dom/words';
import { theme } from '../picture/colours';

const HEIGHT = 170;
const GROUPS_MAX = 40;

export function drawHistogram(element: HTMLElement, column: string, histogram: Histogram): void {
    const bars = histogram.bins
        ? histogram.bins.map(({ from, to, count: amount }) => ({ name: `${value(from)} to ${value(to)}`, place: (from + to) / 2, amount }))
        : (histogram.groups ?? []).slice(0, GROUPS_MAX).map(({ value: group, count: amount }, place) => ({ name: value(group), place, amount }));
    if (bars.length === 0) {
        put(element, el('p', { class: 'aside' }, 'No values.'));
        return;
    }
    const told = el('p', { class: 'aside', 'aria-live': 'polite' }, tell(bars));
    const holder = el('div', { role: 'img', 'aria-label': `Distribution of ${column}: ${tell(bars)}` });
    put(element, holder, told);
    const { text, edge, plain } = theme();
    const axis = { stroke: text, grid: { stroke: edge, width: 0.5 }, ticks: { stroke: edge, width: 0.5 }, font: '11px system-ui, sans-serif' };
    const grouped = !histogram.bins;
    const chart = new uPlot({
        width: Math.max(element.clientWidth, 200), height: HEIGHT,
        scales: { x: { time: false, range: sides(bars.map((bar) => bar.place)) }, y: { range: (_, __, most) => [0, most * 1.05] } },
        axes: [
            { ...axis, values: (_, places) => places.map((place) => (grouped ? (bars[place]?.name ?? '') : value(place))), space: 60 },
            { ...axis, size: 52, values: (_, amounts) => amounts.map((amount) => (Number.isInteger(amount) ? count(amount) : '')) },
        ],
        series: [{}, { fill: plain, stroke: plain, width: 0, paths: uPlot.paths.bars?.({ size: [0.9, 60, 1] }), points: { show: false } }],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        hooks: {
            setCursor: [(plot) => {
                const bar = plot.cursor.idx === null || plot.cursor.idx === undefined ? undefined : bars[plot.cursor.idx];
                put(told, bar ? `${bar.name}: ${count(bar.amount)}` : tell(bars));
            }],
        },
    }, [bars.map((bar) => bar.place), bars.map((bar) => bar.amount)], holder);
    new ResizeObserver(() => chart.setSize({ width: Math.max(element.clientWidth, 200), height: HEIGHT })).observe(element);
}

/** Room for whole bars at both ends. */
function sides(places: number[]): [number, number] {
    const half = places.length > 1 ? (places[1] - places[0]) / 2 : 0.5;
    return [places[0] - half, places[places.length - 1] + half];
}

function tell(bars: { name: string; amount: number }[]): string {
    const most = bars.reduce((a, b) => (b.amount > a.amount ? b : a));
    return `most in ${most.name}: ${count(most.amount)}`;
}
