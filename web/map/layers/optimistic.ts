import type { MapMarker } from '../../../src/client/public.js';
import { sameMarker } from './compare.js';

/** This page's changes to markers, until the server confirms them. */
export class Optimistic {
  /** Null for deleted ones. */
  readonly #changed = new Map<string, MapMarker | null>();

  /** Applies these changes to markers. */
  over(markers: readonly MapMarker[]): MapMarker[] {
    const kept = markers.filter(({ id }) => !this.#changed.has(id));
    return [...kept, ...[...this.#changed.values()].filter((marker) => marker !== null)];
  }

  /** Adds a change. Returns a function that removes it and returns whether it was still pending. */
  set(id: string, marker: MapMarker | null): () => boolean {
    this.#changed.set(id, marker);
    return () => this.#changed.get(id) === marker && this.#changed.delete(id);
  }

  /** Removes changes that the server has confirmed. */
  confirm(markers: readonly MapMarker[]): void {
    const known = new Map(markers.map((marker) => [marker.id, marker]));
    for (const [id, expected] of this.#changed) {
      const real = known.get(id);
      const isConfirmed = expected === null ? real === undefined : real !== undefined && sameMarker(expected, real);
      if (isConfirmed) this.#changed.delete(id);
    }
  }
}
