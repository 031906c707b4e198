import type { Log } from '../log.js';
import type { SearchEngine } from '../search/engine.js';
import { IndexFollower } from '../search/follow.js';
import { openSearchTables } from '../search/tables.js';
import { CONSUMER } from '../store/cell/stream-state.js';
import { openStream } from '../stream/source/dynamodb.js';
import type { StreamBackend } from './backend.js';

/** Makes an index of either engine follow the table's stream, with fewer reads while `isBusy` returns true. */
export function openFollower(
  engine: SearchEngine,
  { database, streams }: StreamBackend,
  log: Log,
  isBusy: (() => boolean) | undefined,
): IndexFollower {
  return new IndexFollower({
    engine,
    stream: openStream(database, streams),
    tables: openSearchTables(database, CONSUMER),
    clock: database.clock,
    keys: database.keys,
    turn: database.scheduler.takeTurn,
    log,
    isBusy,
  });
}
