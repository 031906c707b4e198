import { InvalidArgumentError } from 'commander';

import { PRICE_LIST, type Prices } from '../../capacity/prices.js';
import type { FileFormat } from '../../ingest/read/file-format.js';
import { anyNumber } from '../session.js';

export interface AdviseOptions {
  readonly collection?: string;
  readonly format?: FileFormat;
  readonly keyColumn?: string;
  readonly latColumn?: string;
  readonly lngColumn?: string;
  readonly items?: number;
  readonly itemBytes?: number;
  readonly rcu?: number;
  readonly wcu?: number;
  readonly gb?: number;
  readonly viewsADay?: number;
  readonly writes?: number;
  readonly peak: number;
  readonly price?: Partial<Prices>;
  readonly json?: boolean;
  readonly html?: string;
}

const isPrice = (name: string): name is keyof Prices => Object.hasOwn(PRICE_LIST.prices, name);

/** Parses `name=usd` and adds it to the prices given before it. */
export function parsePrice(text: string, before: Partial<Prices> = {}): Partial<Prices> {
  const [name = '', value, ...more] = text.split('=');
  if (!isPrice(name) || value === undefined || more.length > 0) {
    throw new InvalidArgumentError(
      `Expected NAME=USD, where NAME is one of ${Object.keys(PRICE_LIST.prices).join(', ')}.`,
    );
  }
  const usd = anyNumber(value);
  if (usd < 0) throw new InvalidArgumentError('Expected a price of 0 or more.');
  return { ...before, [name]: usd };
}
