import { writeFile } from 'node:fs/promises';

import { adviceFor, GIGABYTE, type Advice } from '../../capacity/advice.js';
import { PRICE_LIST } from '../../capacity/prices.js';
import { badInput } from '../../errors.js';
import { withDatabase } from '../session.js';
import { fromCities, fromFile, type AdviseSource } from './from-rows.js';
import type { AdviseOptions } from './options.js';
import { sectionsAsText, sectionsOf } from './sections.js';
import { sizesOf } from './sizes.js';

async function sourceOf(file: string | undefined, options: AdviseOptions): Promise<AdviseSource> {
  if (file !== undefined) return fromFile(file, options);
  const { collection } = options;
  if (collection === undefined) return fromCities();
  const { fromCollection } = await import('./from-collection.js');
  const found: AdviseSource[] = [];
  await withDatabase(async ({ call }) => {
    found.push(await fromCollection(call, collection));
  });
  const [source] = found;
  if (!source) throw new Error(`no database for collection ${collection}`);
  return source;
}

/** Advice on a source, scaled to the requested number of markers and with the given figures. */
function adviceOn(source: AdviseSource, options: AdviseOptions): Advice {
  const { items, itemBytes, rcu, wcu, gb, viewsADay = 0, writes = 0, peak } = options;
  const sizes = sizesOf(source.sample, source.collection, itemBytes);
  // Without a number of markers, as many as fit the given storage.
  const isAssumed = source.isAssumed === true && gb !== undefined;
  const fitting = isAssumed ? Math.ceil((gb * GIGABYTE) / (sizes.readable.item + sizes.readable.entry)) : undefined;
  const markers = items ?? fitting;
  return adviceFor({
    distribution: markers === undefined ? source.distribution : source.distribution.scaledTo(markers),
    sizes,
    load: { rcu, wcu, gb, viewsADay, writes, peak },
    prices: { ...PRICE_LIST.prices, ...options.price },
  });
}

/** Limits JSON numbers to six significant digits: further ones are noise. */
const rounded = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

export async function advise(file: string | undefined, options: AdviseOptions): Promise<void> {
  const source = await sourceOf(file, options);
  const advice = adviceOn(source, options);
  const sections = sectionsOf(advice, source.what, source.current);
  if (options.html !== undefined) {
    const { htmlOf } = await import('./html.js');
    const { html } = options;
    await writeFile(html, htmlOf(sections, advice, source.distribution)).catch((error: Error) => {
      throw badInput('--html', html, `a file that can be written (${error.message})`);
    });
  }
  if (options.json === true) {
    const { partitions, ...rest } = advice;
    const { prices: _, ...list } = PRICE_LIST;
    const whole = { partitions, source: source.what, current: source.current ?? null, ...rest, priceList: list };
    return console.log(JSON.stringify(whole, rounded, 2));
  }
  console.log(sectionsAsText(sections));
  if (options.html !== undefined) console.log(`\nreport written to ${options.html}`);
}
