// Numbers, times and values as a person reads them.

const counts = new Intl.NumberFormat('en');
const figures = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

/** `1,234,567`. Numbers that come as text, beyond 2^53, are written as they are. */
export function count(value: number | string): string {
    return typeof value === 'number' ? counts.format(value) : value;
}

/** `1 vertex`, `2 vertices`. */
export function several(value: number, one: string, many = `${one}s`): string {
    return `${count(value)} ${value === 1 ? one : many}`;
}

/** `100 of 900 shown`, the measure of a cut list. */
export function shown(part: number, all: number | null): string {
    if (all === null) return `${count(part)} shown`;
    return part >= all ? `all ${count(all)} shown` : `${count(part)} of ${count(all)} shown`;
}

/** Any value of a property or an answer. */
export function value(any: unknown): string {
    if (any === null || any === undefined) return '–';
    if (typeof any === 'number') {
        if (Number.isInteger(any)) return counts.format(any);
        return Math.abs(any) < 1e-4 || Math.abs(any) >= 1e9 ? any.toExponential(3) : figures.format(any);
    }
    if (typeof any === 'boolean') return any ? 'yes' : 'no';
    return typeof any === 'string' ? any : JSON.stringify(any);
}

/** `1.5 GiB`. */
export function bytes(amount: number): string {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (amount >= 1024 && unit < units.length - 1) {
        amount /= 1024;
        unit += 1;
    }
    return `${figures.format(Number(amount.toPrecision(3)))} ${units[unit]}`;
}

/** `3 ms`, `2.5 s`, `4 min`. */
export function duration(seconds: number): string {
    if (seconds < 0.0005) return 'less than a millisecond';
    if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
    return seconds < 120 ? `${Number(seconds.toPrecision(2))} s` : `${Math.round(seconds / 60)} min`;
}

/** A time as the server writes it, without what is zero: `2026-11-30T15:42:00Z` as `2026-11-30 15:42`. Fractions of a second only if they are `fine`. */
export function shortTime(text: string, fine = true): string {
    const whole = fine ? text : text.replace(/(:\d\d)\.\d+Z$/, '$1Z');
    return whole.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z$/, (_, day: string, minutes: string, seconds = ':00') =>
        [day, minutes === '00:00' && seconds === ':00' ? '' : ` ${minutes}${seconds === ':00' ? '' : seconds}`].join(''));
}

/** `2026-11-30 15:42`, in the local time zone. */
export function time(ms: number): string {
    const date = new Date(ms);
    if (Number.isNaN(date.getTime())) return String(ms);
    const two = (part: number): string => String(part).padStart(2, '0');
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
