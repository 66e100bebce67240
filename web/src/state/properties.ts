// Which properties hold numbers.

import type { Property } from '../api/types';

const NUMERIC = /^(u?int|float|double|[iuf]\d|integer|number)/i;

/** The numeric ones, as values and texts of a choice. */
export function numericProperties(properties: Property[]): [string, string][] {
    return properties.filter(({ type }) => NUMERIC.test(type)).map(({ name }) => [name, name]);
}
