import type { Collection } from '../model/collection.js';
import { everyCollection } from '../store/collection/collection-changes.js';
import type { Database } from '../store/database.js';
import {
  claimDay,
  closeDay,
  forgetDueDay,
  listDueDays,
  openDays,
  readDays,
  removeDays,
  summarizeDay,
} from '../store/reading/kept-days.js';
import { newCall } from '../store/request/meter.js';
import type { DaysPort } from './ports.js';

/** Opens the summaries of readings in a database. */
export function openDaysPort(database: Database): DaysPort {
  const { keys } = database;
  return {
    async collections() {
      const found = new Map<string, Collection>();
      for await (const some of everyCollection(database, 'in use', newCall(), { consistent: true })) {
        for (const collection of some) found.set(keys.scope(collection), collection);
      }
      return found;
    },
    open: (days, epoch) => openDays(database, days, epoch, newCall()),
    due: (collection, upTo) => listDueDays(database, keys.scope(collection), upTo, newCall()),
    read: (days) => readDays(database, days, newCall()),
    claim: (day, seen, epoch) => claimDay(database, day, seen, epoch, newCall()),
    summarize: (collection, day, now) => summarizeDay(database, collection, day, now, newCall()),
    close: (day, seen, kept) => closeDay(database, day, seen, kept, newCall()),
    forget: (due) => forgetDueDay(database, due, newCall()),
    remove: (days) => removeDays(database, days, newCall()),
  };
}
