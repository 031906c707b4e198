import { readRules, writeRules } from '../rules/rules-in-hash.js';
import type { Rules } from '../rules/rules.js';

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

/** A longitude from -180 to below 180. */
const wrap = (lng: number) => ((((lng + 180) % 360) + 360) % 360) - 180;

/** Numbers separated by slashes; undefined unless there are `count` of them. */
function readNumbers(text: string | null, count: number): readonly number[] | undefined {
  const parts = (text?.split('/') ?? []).map((part) => (part === '' ? Number.NaN : Number(part)));
  return parts.length === count && parts.every(Number.isFinite) ? parts : undefined;
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** A view beyond the map's edges or zooms is moved inside, as when one pans or zooms there. */
function readAt(text: string | null): PageState['at'] {
  const [zoom, lat, lng] = readNumbers(text, 3) ?? [];
  if (zoom === undefined || lat === undefined || lng === undefined) return undefined;
  return { zoom: clamp(zoom, MIN_ZOOM, MAX_ZOOM), lat: clamp(lat, -MAX_LAT, MAX_LAT), lng: wrap(lng) };
}

function readPin(text: string | null): PageState['pin'] {
  const [lat, lng] = readNumbers(text, 2) ?? [];
  if (lat === undefined || lng === undefined || Math.abs(lat) > MAX_LAT || Math.abs(lng) > 180) return undefined;
  return { lat, lng };
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
    const lng = wrap(at.lng).toFixed(digits);
    parts.push(`at=${Number(at.zoom.toFixed(2))}/${Number(at.lat.toFixed(digits))}/${Number(lng)}`);
  }
  if (on) parts.push(keys('on', on));
  if (heat && heat.length > 0) parts.push(keys('heat', heat));
  if (rules) parts.push(...writeRules(rules));
  if (place !== undefined) parts.push(`place=${encodeURIComponent(place).replaceAll('%3A', ':')}`);
  if (pin) parts.push(`pin=${Number(pin.lat.toFixed(6))}/${Number(pin.lng.toFixed(6))}`);
  return `#${parts.join('&')}`;
}
