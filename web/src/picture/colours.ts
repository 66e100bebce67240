// Colours of the picture. People who are colour-blind tell the groups apart (M. Okabe, K. Ito, "Color Universal
// Design"); a scale of numbers goes from light to dark, which needs no colour at all.

import type { Mark } from '../content/content';

const GROUPS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442'];

export interface Theme {
    dark: boolean;
    text: string;
    ground: string;
    edge: string;
    faint: string;
    plain: string;
    other: string;
    ring: string;
    marks: Record<Mark, string>;
}

const LIGHT: Theme = {
    dark: false, text: '#1d232b', ground: '#ffffff', edge: '#c3c9d1', faint: '#e1e5ea', plain: '#0072b2', other: '#8a939e', ring: '#1d232b',
    marks: { path: '#d55e00', added: '#0072b2', removed: '#d55e00', changed: '#8a5a9e' },
};
const DARK: Theme = {
    dark: true, text: '#e6eaf0', ground: '#14181e', edge: '#465060', faint: '#2b333e', plain: '#56b4e9', other: '#8a939e', ring: '#ffffff',
    marks: { path: '#ff9a4d', added: '#56b4e9', removed: '#ff9a4d', changed: '#d7a6e8' },
};

const wish = window.matchMedia('(prefers-color-scheme: dark)');

export function theme(): Theme {
    return wish.matches ? DARK : LIGHT;
}

export function onTheme(changed: () => void): void {
    wish.addEventListener('change', changed);
}

/** The colour of a group by its rank; those beyond the seventh share grey. */
export function groupColour(rank: number): string {
    return GROUPS[rank] ?? theme().other;
}

/** The colour of a number between 0 and 1: from pale to the deepest against the ground. */
export function scaleColour(part: number): string {
    const stops = theme().dark
        ? [[38, 58, 84], [52, 104, 148], [72, 152, 196], [130, 200, 230], [226, 244, 255]]
        : [[214, 229, 242], [150, 193, 224], [82, 145, 196], [30, 92, 152], [8, 40, 84]];
    const place = Math.min(1, Math.max(0, part)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const mix = [0, 1, 2].map((channel) => Math.round(stops[low][channel] + (stops[low + 1][channel] - stops[low][channel]) * (place - low)));
    return `#${mix.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
