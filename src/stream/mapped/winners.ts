import { newCall, type Database } from '../../store/database.js';
import { mappingOf, type SourceCollection } from '../../store/source/source-mapping.js';
import { itemsAround } from '../../store/source/source-markers.js';
import { readWinners, replaceWinners } from '../../store/source/winners.js';
import { NO_CONTENDER, ranked } from '../consume/winners.js';
import type { WinnersPort } from '../ports.js';
import { mappedImages } from './mapped-stream.js';

/** Which items are the markers of a source. */
export function openWinners(database: Database, collection: SourceCollection): WinnersPort {
  const { keys } = database;
  const scope = keys.scope(collection);
  const { source } = collection;
  const [, sortKey] = source.tableKey;
  const isSorted = sortKey?.type === 'N' && mappingOf(source).newest?.join() === sortKey.name;
  return {
    read: (wanted) => readWinners(newCall(database), scope, wanted, { consistent: true }),
    write: (writes) => replaceWinners(newCall(database), scope, writes),
    async ask(key) {
      const responses = itemsAround(newCall(database), source, key);
      if (responses === undefined) return undefined;
      let ranking = NO_CONTENDER;
      for await (const items of responses) {
        for (const item of items) {
          for (const mapped of mappedImages(keys, collection, item)) {
            if (mapped.key === key && mapped.contender)
              ranking = ranked(ranking, mapped.contender.item, mapped.contender);
          }
        }
        if (isSorted && ranking.best.length > 0) break;
      }
      const [first] = ranking.best;
      // There may be more of them, so the table is asked again once this one is gone.
      return first ? { ...ranking, others: first.order } : ranking;
    },
  };
}
