import type { InvalidRow } from './fields.js';

type Kind = NonNullable<InvalidRow['skipped']>;

/** What is counted of a row. */
interface Noted {
  readonly content:
    | { readonly reason: string; readonly skipped?: Kind | undefined }
    | { readonly keyFromContent?: true; readonly name: string | null; readonly hasElevation?: true };
  readonly texts?: number;
}

/** Counts what was guessed, dropped and skipped in the rows of a file, so that an import can say it. */
export class Notes {
  readonly #counts = { rows: 0, unnamed: 0, keys: 0, elevations: 0, texts: 0, area: 0, line: 0, point: 0 };

  add({ content, texts = 0 }: Noted): void {
    const counts = this.#counts;
    if ('reason' in content) {
      if (content.skipped !== undefined) counts[content.skipped] += 1;
      return;
    }
    counts.rows += 1;
    counts.texts += texts;
    counts.unnamed += Number(content.name === null);
    counts.keys += Number(content.keyFromContent === true);
    counts.elevations += Number(content.hasElevation === true);
  }

  /** A sentence for each, with the options that change it. */
  lines(): string[] {
    const { rows, unnamed, keys, elevations, texts, area, line, point } = this.#counts;
    const some = (count: number, noun: string, rest: string) =>
      count === 0 ? [] : [`${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}${rest}`];
    const zones = [...some(area, 'area', ''), ...some(line, 'line', '')].join(' and ');
    return [
      ...(zones === '' ? [] : [`${zones} skipped: pass --zones`]),
      ...some(point, 'point', ' skipped: pass --no-zones'),
      ...some(keys, 'row', ` ${keys === 1 ? 'has' : 'have'} no key: it is made of the content; pass --key-column`),
      ...(rows > 0 && unnamed === rows ? ['no names found; pass --name-column'] : []),
      ...some(elevations, 'elevation', ' dropped'),
      ...some(texts, 'number', ' kept as text, so that no digit is lost'),
    ];
  }
}
