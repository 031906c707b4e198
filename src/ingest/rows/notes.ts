import { type InvalidRow } from './fields.js';

type Kind = NonNullable<InvalidRow['skipped']>;

/** What is counted of a row. */
interface Noted {
  readonly content:
    | { readonly reason: string; readonly skipped?: Kind | undefined }
    | { readonly keyFromContent?: true; readonly name: string | null; readonly hasElevation?: true };
  readonly texts?: number;
}

const few = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Counts what was guessed, dropped and skipped in the rows of a file, so that an import can say it. */
export class Notes {
  #rows = 0;
  #unnamed = 0;
  #keys = 0;
  #elevations = 0;
  #texts = 0;
  readonly #skipped: Record<Kind, number> = { area: 0, line: 0, point: 0 };

  add({ content, texts = 0 }: Noted): void {
    if ('reason' in content) {
      if (content.skipped !== undefined) this.#skipped[content.skipped] += 1;
      return;
    }
    this.#rows += 1;
    this.#texts += texts;
    if (content.name === null) this.#unnamed += 1;
    if (content.keyFromContent === true) this.#keys += 1;
    if (content.hasElevation === true) this.#elevations += 1;
  }

  /** A sentence for each, with the options that change it. */
  lines(): string[] {
    const { area, line, point } = this.#skipped;
    const others = [area > 0 ? few(area, 'area') : [], line > 0 ? few(line, 'line') : []].flat().join(' and ');
    const keys = this.#keys === 1 ? '1 row has no key' : `${few(this.#keys, 'row')} have no key`;
    return [
      others === '' ? [] : `${others} skipped: pass --zones to import them`,
      point === 0 ? [] : `${few(point, 'point')} skipped: pass --no-zones to import them`,
      this.#keys === 0
        ? []
        : `${keys}: it is made of the content, so a changed row becomes another one; pass --key-column if a column has it`,
      this.#rows === 0 || this.#unnamed < this.#rows ? [] : 'no names found: pass --name-column if a column has them',
      this.#elevations === 0 ? [] : `${few(this.#elevations, 'elevation')} dropped: a position has none`,
      this.#texts === 0 ? [] : `${few(this.#texts, 'number')} kept as text, so that no digit is lost`,
    ].flat();
  }
}
