import type { MapCell } from '../../../src/client/public.js';
import { createDensest } from './densest.js';
import { levelOf } from './kernel.js';
import { scaleOf, type Scale } from './scale.js';

/**
 * The scales of a collection. They depend on its densest cells anywhere, not on those in view, so a color means the
 * same after panning, and to everyone who opens a link. Undefined until these are read; `onReady` is then called.
 */
export function createScales(key: string, onReady: () => void): (cells: readonly MapCell[]) => Scale | undefined {
  const densestOf = createDensest(key);
  const scales = new Map<number, Scale | undefined>();

  async function load(length: number, cells: readonly MapCell[]): Promise<void> {
    const inView = () => Math.max(...cells.map(({ count, centroid }) => levelOf(count, centroid.lat)));
    scales.set(length, scaleOf(length, await densestOf(length).catch(inView)));
    onReady();
  }

  return (cells) => {
    const length = cells[0]?.geohash.length;
    if (length === undefined) return undefined;
    if (!scales.has(length)) {
      scales.set(length, undefined);
      void load(length, cells);
    }
    return scales.get(length);
  };
}
