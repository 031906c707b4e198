import type { MapMarker } from '../../../src/client/public.js';
import { choiceOf, valueOf, type Field } from '../rules/rules.js';

/** A property whose values are numbers. */
export interface NumberField {
  readonly field: string;
  readonly least: number;
  readonly greatest: number;
}

/** A field with few enough values to choose from, each with the number of markers that have it, most frequent first. */
export interface ChoiceField {
  readonly field: Field;
  readonly values: readonly (readonly [value: string, markers: number])[];
}

export type LearnedField = NumberField | ChoiceField;

/** Fields with more texts than this, mostly different, hold names rather than kinds. */
const MANY = 20;

function choices(markers: readonly MapMarker[], field: Field): ChoiceField | undefined {
  const counts = new Map<string, number>();
  for (const marker of markers) {
    const value = choiceOf(marker, field);
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (counts.size === 0 || (counts.size > MANY && counts.size > total / 2)) return undefined;
  const values = [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return { field, values };
}

/** The fields found in a sample of markers: numbers, category, texts. */
export function learnFields(markers: readonly MapMarker[]): readonly LearnedField[] {
  const names = new Set(markers.flatMap(({ properties }) => Object.keys(properties as object)));
  const learned = [...names].toSorted().flatMap((field): LearnedField[] => {
    const numbers = markers.map((marker) => valueOf(marker, field)).filter((value) => typeof value === 'number');
    if (numbers.length === 0) return [choices(markers, field) ?? []].flat();
    const [least, greatest] = numbers.reduce(([a, b], each) => [Math.min(a, each), Math.max(b, each)], [Infinity, -Infinity]); // prettier-ignore
    return [{ field, least, greatest }];
  });
  const isNumeric = (field: LearnedField) => 'least' in field;
  return [
    ...learned.filter(isNumeric),
    ...[choices(markers, null) ?? []].flat(),
    ...learned.filter((field) => !isNumeric(field)),
  ];
}
