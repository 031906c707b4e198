import { CellportError } from '../../errors.js';
import { boundsMeet, shapeMeets, shapeOfGeometry } from '../../geo/zone-geometry.js';
import type { Zone } from '../../model/marker.js';
import { readItem } from '../../store/request/conditional-write.js';
import { mapAhead, retryInBackground } from '../../store/request/pacing.js';
import { missing, parseGeometry, readGeometry } from '../../store/zone/zone-geometry.js';
import { zoneFromItem } from '../../store/zone/zone-item.js';
import { queryZones } from '../../store/zone/zones.js';
import { checkStillThere, type ExportJob } from './read-markers.js';

const ZONES_A_RESPONSE = 100;
/** A small number, because a zone can have megabytes. */
const ZONES_AHEAD = 4;

/** A zone with the GeoJSON of its geometry, in UTF-8. */
export interface WholeZone {
  readonly zone: Zone;
  readonly geometry: Buffer;
}

async function* zonesOf({ collection, call }: ExportJob): AsyncGenerator<Zone> {
  let after: string | undefined;
  do {
    const from = { after, limit: ZONES_A_RESPONSE };
    const { zones, next } = await retryInBackground(() => queryZones(call, collection, from), call.signal);
    yield* zones;
    after = next;
  } while (after !== undefined);
}

/** A zone with its geometry, read again if that has changed; undefined if it was deleted. */
async function readWhole(job: ExportJob, zone: Zone): Promise<WholeZone | undefined> {
  const { collection, call } = job;
  const geometry = await retryInBackground(() => readGeometry(call.db.geometry, zone.geometry), call.signal);
  if (geometry) return { zone, geometry };
  const { keys } = call.db;
  const found = await retryInBackground(() => readItem(call, keys.zone(zone.scope, zone.key)), call.signal);
  const now = found && zoneFromItem(keys, found, collection.key);
  if (now === undefined) return undefined;
  if (now.geometry.sha256 === zone.geometry.sha256) throw missing(zone.geometry);
  return readWhole(job, now);
}

/**
 * Yields all zones of a collection in key order, with their full geometry. A few are read ahead of the consumer.
 * Throttled reads are retried. Throws UNAVAILABLE naming a zone whose geometry cannot be read, and CONFLICT at the end
 * if the collection was deleted meanwhile, because zones may be missing.
 */
export async function* readZones(job: ExportJob): AsyncGenerator<WholeZone> {
  const { area } = job;
  const read = async (zone: Zone): Promise<WholeZone | undefined> => {
    job.call.signal?.throwIfAborted();
    const meets = area === undefined || boundsMeet(zone.bounds, area);
    if (meets === false) return undefined;
    try {
      const whole = await readWhole(job, zone);
      if (whole === undefined || area === undefined || meets === true) return whole;
      return shapeMeets(shapeOfGeometry(parseGeometry(whole.geometry)), area) ? whole : undefined;
    } catch (cause) {
      if (!(cause instanceof CellportError)) throw cause;
      throw new CellportError(cause.code, `zone ${JSON.stringify(zone.key)}: ${cause.message}`, {}, { cause });
    }
  };
  for await (const whole of mapAhead(zonesOf(job), ZONES_AHEAD, read)) {
    if (whole !== undefined) yield whole;
  }
  await checkStillThere(job);
}
