import type { MapMarker } from '../../../src/client/public.js';
import type { Theme } from '../base-map/palette.js';
import { choiceOf, isRange, valueOf, type Range, type Rules } from './rules.js';

/** From few to many; high values stand out from the land. */
export const RAMP: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#d8a428', '#d9703c', '#b53f66', '#77308a', '#2c1f73'],
  dark: ['#6a5acd', '#b455b8', '#e8648c', '#f7975c', '#ffdf6b'],
};
/** Colors for the first values, in order; all other values are gray. */
export const COLORS: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#0b6e99', '#b4461d', '#6a4cb3', '#2c7a4b', '#b02a6b', '#806400', '#3f4a54'],
  dark: ['#56b6e0', '#f0916a', '#ab93f2', '#68c690', '#ee80b2', '#d6b84a', '#e3e9ee'],
};
export const OTHER: Readonly<Record<Theme, string>> = { light: '#9aa3aa', dark: '#6b7780' };

/** Ranges at least this wide are divided into equal ratios instead of equal differences. */
const LOGARITHMIC_FROM = 100;
const [SMALLEST, LARGEST] = [0.6, 2.6];

const isLogarithmic = ({ from, to }: Range) => from > 0 && to / from >= LOGARITHMIC_FROM;

/** The position of a number within a range, 0 to 1. */
export function shareOf(value: number, range: Range): number {
  const { from, to } = range;
  if (to <= from) return value < from ? 0 : 1;
  const share = isLogarithmic(range)
    ? Math.log(Math.max(value, from) / from) / Math.log(to / from)
    : (value - from) / (to - from);
  return Math.min(1, Math.max(0, share));
}

/** The number in the middle of a range's scale. */
export const middleOf = (range: Range): number =>
  isLogarithmic(range) ? Math.sqrt(range.from * range.to) : (range.from + range.to) / 2;

/** Interpolates between the colors of a ramp. */
function mixed(ramp: readonly string[], share: number): string {
  const at = share * (ramp.length - 1);
  const [low = '', high = ''] = [ramp[Math.floor(at)], ramp[Math.ceil(at)]];
  const channel = (color: string, index: number) => Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16);
  const part = at - Math.floor(at);
  const rgb = [0, 1, 2].map((index) => Math.round(channel(low, index) * (1 - part) + channel(high, index) * part));
  return `rgb(${rgb.join(',')})`;
}

/** How to draw a marker: the color of its circle and a factor for its radius; undefined where no rule applies. */
export interface Look {
  readonly tint?: string;
  readonly scale?: number;
}

/** Returns how to draw markers under these rules. Those without the property are gray and small. */
export function lookOf({ color, size }: Rules, theme: Theme): (marker: MapMarker) => Look {
  const shareIn = (marker: MapMarker, range: Range) => {
    const value = valueOf(marker, range.field);
    return typeof value === 'number' ? shareOf(value, range) : undefined;
  };
  const tintOf = (marker: MapMarker) => {
    if (color === undefined) return undefined;
    if (!isRange(color)) return COLORS[theme][color.values.indexOf(choiceOf(marker, color.field) ?? '')];
    const share = shareIn(marker, color);
    return share === undefined ? undefined : mixed(RAMP[theme], share);
  };
  return (marker) => ({
    ...(color && { tint: tintOf(marker) ?? OTHER[theme] }),
    // The area is proportional to the number.
    ...(size && { scale: SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(shareIn(marker, size) ?? 0) }),
  });
}
