import { Distribution } from '../../capacity/distribution.js';
import { badInput } from '../../errors.js';
import { readPoint } from '../../geo/bounds.js';
import { encode, LONGEST_Z, toZ } from '../../geo/geohash.js';
import { CITIES_COLLECTION, openCities } from '../../ingest/markers/cities.js';
import { openMarkers } from '../../ingest/markers/marker-reader.js';
import { formatOf } from '../../ingest/read/file-format.js';
import { isInvalid, type RowSource } from '../../ingest/read/row.js';
import type { MarkerRow } from '../../ingest/rows/marker-row.js';
import type { MarkerInput } from '../../store/marker/marker-item.js';
import type { AdviseOptions } from './options.js';
import type { SizedCollection } from './sizes.js';

/** Markers to advise on: their distribution, and a sample. */
export interface AdviseSource {
  /** Describes their origin, for the report. */
  readonly what: string;
  readonly distribution: Distribution;
  readonly sample: readonly MarkerInput[];
  readonly collection: SizedCollection;
  /** Whether the markers stand for others of which only figures are known. */
  readonly isAssumed?: boolean;
  /** The current layout of a live collection. */
  readonly current?: { readonly prefixLength: number; readonly writeShards: number };
}

const MOST_SAMPLED = 2_048;

/** Keeps every row, then every second, every fourth and so on, so that at most 2,048 are kept. */
class Sample {
  #rows: MarkerRow[] = [];
  #step = 1;
  #seen = 0;

  add(row: MarkerRow): void {
    if (this.#seen++ % this.#step !== 0) return;
    this.#rows.push(row);
    if (this.#rows.length <= MOST_SAMPLED) return;
    this.#rows = this.#rows.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  /** In the importer's form, before the store's validation. */
  get markers(): MarkerInput[] {
    return this.#rows as unknown as MarkerInput[];
  }
}

/**
 * The number of markers at each position in Z-order, a sample of the markers, and the reason for the first rejected
 * row.
 */
async function readRows(rows: RowSource<MarkerRow>) {
  const counts = new Map<number, number>();
  const sample = new Sample();
  let rejected = 0;
  let reason: string | undefined;
  for await (const some of rows.scan()) {
    for (const { content, line } of some) {
      try {
        if (isInvalid(content)) throw new Error(content.reason);
        const z = toZ(encode(readPoint('position', content.position.lng, content.position.lat), LONGEST_Z));
        counts.set(z, (counts.get(z) ?? 0) + 1);
        sample.add(content);
      } catch (error) {
        rejected += 1;
        reason ??= `line ${line}: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
  }
  const stretches = Array.from(counts, ([from, markers]) => ({ from, to: from + 1, markers }));
  return { distribution: new Distribution(stretches), sample: sample.markers, rejected, reason };
}

/** Reads the markers of a file. Throws BAD_USER_INPUT if it cannot be read or has no markers. */
export async function fromFile(path: string, options: AdviseOptions): Promise<AdviseSource> {
  const { keyColumn, latColumn, lngColumn, format = formatOf(path) } = options;
  const rows = await openMarkers(path, format, { keyColumn, latColumn, lngColumn });
  try {
    const { distribution, sample, rejected, reason } = await readRows(rows);
    if (distribution.markers === 0)
      throw badInput('file', path, `a file with at least one marker${reason === undefined ? '' : ` (${reason})`}`);
    const without = rejected === 0 ? '' : `, excluding ${rejected} invalid rows (${reason ?? ''})`;
    return {
      what: `${distribution.markers} markers in ${path}${without}`,
      distribution,
      sample,
      collection: { key: 'markers', code: null, mapProperties: [], globalIds: false, prefixLength: 2 },
    };
  } finally {
    await rows.close();
  }
}

/** Markers distributed like the cities of the world, for advice based on figures alone. */
export async function fromCities(): Promise<AdviseSource> {
  const { rows } = openCities();
  const { distribution, sample } = await readRows(rows);
  const { key, mapProperties } = CITIES_COLLECTION;
  return {
    what: 'the given figures: markers like the cities of the world (GeoNames), and distributed like them',
    distribution,
    sample,
    collection: { key, code: null, mapProperties: mapProperties ?? [], globalIds: false, prefixLength: 2 },
    isAssumed: true,
  };
}
