import { Command, InvalidArgumentError, Option } from 'commander';

import type { KeyStyle } from '../keys/keyspace.js';

export const EXIT_CODES = `
Exit codes: 0 success, also after Ctrl-C or SIGTERM to a server; 1 failed or interrupted;
2 invalid command line, setting or input.`;

/** A command of a group. */
export const subcommand = (name: string, description: string): Command =>
  new Command(name).description(description).addHelpText('after', EXIT_CODES);

/** Returns a parser for an option that is an integer in a range. */
export function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${from} to ${to}.`);
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses an interval of a minute or more, such as `15m`, `1h` or `7d`, in milliseconds. */
export function interval(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (UNIT_MS[unit] ?? 0);
  throw new InvalidArgumentError('Expected minutes, hours or days, such as 15m, 1h or 7d.');
}

/** Parses a numeric option; the command checks its range. */
export function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Expected a number.');
}

/** Returns a parser for an option that is a number in a range. */
export function numberFrom(from: number, to: number) {
  return (text: string): number => {
    const value = anyNumber(text);
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`Expected a number from ${from} to ${to}.`);
  };
}

/** In degrees. */
export type BoundsOption = readonly [west: number, south: number, east: number, north: number];

function parseBounds(text: string): BoundsOption {
  const [west, south, east, north, ...more] = text.split(',').map(anyNumber);
  if (west === undefined || south === undefined || east === undefined || north === undefined || more.length > 0) {
    throw new InvalidArgumentError('Expected four numbers: west,south,east,north.');
  }
  if (Math.abs(south) > 90 || Math.abs(north) > 90) {
    // Clamped like those of a map client, whose views may reach beyond a pole.
    console.error(`warning: latitudes are from -90 to 90, in the order west,south,east,north; ${text} is cut to them`);
  }
  return [west, south, east, north];
}

export const boundsOption = (description: string) =>
  new Option('-b, --bounds <west,south,east,north>', description).argParser(parseBounds);

export const prefixLengthOption = () =>
  new Option('--prefix-length <n>', 'geohash characters in the partition key of its markers').argParser(
    wholeNumber(0, 6),
  );

export const writeShardsOption = (flag = '--write-shards') =>
  new Option(`${flag} <n>`, 'number of partitions per prefix').argParser(wholeNumber(1, 32));

/** Names of properties, in one or several values: separated by commas. */
export const mapPropertyOption = (values: string, description: string) =>
  new Option(`--map-properties, --map-property ${values}`, description).argParser(
    (text: string, before: readonly string[] | undefined): readonly string[] => [
      ...(before ?? []),
      ...text.split(',').flatMap((name) => name.trim() || []),
    ],
  );

export const styleOption = () =>
  new Option('--style <style>', 'key style (CELLPORT_KEY_STYLE)').choices(['readable', 'compact']);

/** How keys are written, for commands that need no database. */
export interface KeyOptions {
  readonly style?: KeyStyle;
  readonly code?: string;
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly json?: boolean;
}
