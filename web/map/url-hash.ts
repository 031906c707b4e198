import { readRules, writeRules } from './rules/rules-in-hash.js';
import type { Rules } from './rules/rules.js';

/** The part of the page's state that is kept in its address. */
export interface PageState {
  /** Center of the map in degrees, and its zoom. */
  readonly at?: { readonly zoom: number; readonly lat: number; readonly lng: number };
  /** Keys of the collections that are on. */
  readonly on?: readonly string[];
  /** Those drawn as heatmaps. */
  readonly heat?: readonly string[];
  /** Filters, colors and sizes by collection. */
  readonly rules?: ReadonlyMap<string, Rules>;
  /** ID of the marker or zone whose card is open. */
  readonly place?: string;
  /** A position whose card is open. */
  readonly pin?: { readonly lat: number; readonly lng: number };
}

const MAX_LAT = 85;
const MAX_ZOOM = 22;
/** Minimum zoom of the API and the map. */
export const MIN_ZOOM = -2;

function readAt(text: string | null): PageState['at'] {
  const parts = text?.split('/') ?? [];
  const [zoom = Number.NaN, lat = Number.NaN, lng = Number.NaN] = parts.map((part) =>
    part === '' ? Number.NaN : Number(part),
  );
  if (parts.length !== 3 || ![zoom, lat, lng].every(Number.isFinite)) return undefined;
  if (zoom < MIN_ZOOM || zoom > MAX_ZOOM || Math.abs(lat) > MAX_LAT || Math.abs(lng) > 180) return undefined;
  return { zoom, lat, lng };
}

function readPin(text: string | null): PageState['pin'] {
  const { lat, lng } = readAt(`0/${text}`) ?? {};
  return lat === undefined || lng === undefined ? undefined : { lat, lng };
}

const readKeys = (text: string | null) => text?.split(',').filter((key) => key !== '');

/** Parses a hash; invalid parts are ignored. */
export function readHash(hash: string): PageState {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const at = readAt(parts.get('at'));
  const on = readKeys(parts.get('on'));
  const heat = readKeys(parts.get('heat'));
  const rules = readRules(parts);
  const place = parts.get('place');
  const pin = readPin(parts.get('pin'));
  return {
    ...(at && { at }),
    ...(on && { on }),
    ...(heat && { heat }),
    ...(rules.size > 0 && { rules }),
    ...(place !== null && place !== '' && { place }),
    ...(pin && { pin }),
  };
}

/** Formats a state as a hash, with as many digits as are visible on a screen. */
export function writeHash({ at, on, heat, rules, place, pin }: PageState): string {
  const keys = (name: string, list: readonly string[]) => `${name}=${list.map(encodeURIComponent).join(',')}`;
  const parts: string[] = [];
  if (at) {
    const digits = Math.max(0, Math.ceil((at.zoom * Math.LN2 + Math.log(512 / 360 / 0.5)) / Math.LN10));
    const lng = ((((at.lng + 180) % 360) + 360) % 360) - 180;
    parts.push(`at=${Number(at.zoom.toFixed(2))}/${Number(at.lat.toFixed(digits))}/${Number(lng.toFixed(digits))}`);
  }
  if (on) parts.push(keys('on', on));
  if (heat && heat.length > 0) parts.push(keys('heat', heat));
  if (rules) parts.push(...writeRules(rules));
  if (place !== undefined) parts.push(`place=${encodeURIComponent(place).replaceAll('%3A', ':')}`);
  if (pin) parts.push(`pin=${Number(pin.lat.toFixed(6))}/${Number(pin.lng.toFixed(6))}`);
  return `#${parts.join('&')}`;
}
