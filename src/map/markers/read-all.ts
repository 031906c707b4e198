import { limitExceeded } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import type { MapContext } from '../context.js';
import type { MarkerFilter } from '../filter.js';
import type { RangeSource } from './sources.js';
import { type Placed, walk } from './walk.js';

/** A question that has no pages. */
export interface WholeQuestion {
  /** The field of the API that asks, for the message. */
  readonly field: string;
  readonly collection: Collection;
  readonly source: RangeSource;
  readonly accept: (placed: Placed) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** More than this many need not be told; Infinity for all. */
  readonly wanted?: number;
  /** What to ask instead where it takes too much. */
  readonly advice: string;
}

/** All markers of a question. Throws LIMIT_EXCEEDED where that takes more than one field may; never some of them. */
export async function readAll(context: MapContext, question: WholeQuestion): Promise<readonly Placed[]> {
  const { rangesPerPage, itemsPerField } = context.limits;
  const { field, advice, wanted = Infinity, ...rest } = question;
  const { found, cutAt } = await walk(context, { ...rest, wanted });
  if (cutAt !== undefined && found.length < wanted) throw tooMuch(field, rangesPerPage, itemsPerField, advice);
  return found;
}

/** LIMIT_EXCEEDED for a field that would read more than it may. */
export function tooMuch(field: string, rangesPerPage: number, itemsPerField: number, advice: string) {
  return limitExceeded(
    field,
    'more than can be read at once',
    `${rangesPerPage} Query calls or ${itemsPerField} items`,
    advice,
  );
}
