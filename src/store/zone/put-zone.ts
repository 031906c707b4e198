import { isDeepStrictEqual } from 'node:util';

import { CellportError } from '../../errors.js';
import { retry } from '../../retry.js';
import type { Database } from '../database.js';
import type { Call } from '../request/meter.js';
import { CONFLICT_RETRIES, TooManyUpdates } from '../request/retries.js';
import { updateWithGeometry, updateZone } from './zone-changes.js';
import type { ZoneDraft } from './zone-draft.js';
import { insertZone, readZoneItem, requireZone, type ZoneReference } from './zones.js';

/** What putting a zone did. */
export type ZoneOutcome = 'created' | 'updated' | 'unchanged';

/**
 * Creates a zone from a draft, or updates the existing one, writing only what differs: nothing, its item, or all of it with
 * another object. May be repeated, and is safe next to other writers. `now` is RFC 3339 in UTC.
 */
export async function putZone(
  database: Database,
  reference: ZoneReference,
  draft: ZoneDraft,
  now: string,
  call: Call,
): Promise<ZoneOutcome> {
  const { geometry, ...content } = draft;
  const raced = new TooManyUpdates();
  return retry(
    async () => {
      const found = await readZoneItem(database, reference, call);
      if (found === undefined) {
        if (await insertZone(database, reference, draft, now, call)) return 'created';
        throw raced;
      }
      const { zone } = requireZone(database, reference, found);
      const stays = zone.geometry.sha256 === geometry.stored.sha256;
      if (stays && zone.name === content.name && isDeepStrictEqual(zone.properties, content.properties)) {
        return 'unchanged';
      }
      try {
        if (stays) await updateZone(database, reference, content, { now }, call);
        else
          await updateWithGeometry(database, reference, { update: content, prepare: async () => geometry, now }, call);
        return 'updated';
      } catch (error) {
        // Deleted in between.
        throw error instanceof CellportError && error.code === 'NOT_FOUND' ? raced : error;
      }
    },
    { ...CONFLICT_RETRIES, retryable: (error) => error === raced, signal: call.signal },
  );
}
