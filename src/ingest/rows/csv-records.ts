import { delimiterOf, type Delimiter } from './marker-table.js';
import { withPrimes } from './position.js';

/** Maximum size of a record; a longer one lacks a closing quote. */
export const LONGEST_RECORD = 4 * 1024 * 1024;
/** Maximum number of records that are parsed in one call, and their size. */
export const BATCH = 500;
const BATCH_SIZE = 1024 * 1024;
/** A line before the header that tells Excel the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])$/i;

/** The number of columns is checked here, so that a row with another one does not fail its batch. */
const LAYOUT = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, max_record_size: LONGEST_RECORD };

export interface CsvFormat {
  readonly delimiter: Delimiter;
  /** Whether blanks around fields count, also outside quotes. */
  readonly isExact?: boolean | undefined;
}

/** The fields of each record, as csv-parse returns them, of which Node and browsers have different builds. */
type Parse = (text: string, options: { readonly delimiter: string; readonly trim: boolean }) => string[][];

/** Parses records with a build of csv-parse; quotes follow RFC 4180. */
export function csvParser(parse: Parse) {
  /** The fields of each record; undefined if a quote is misplaced. */
  function fieldsOf(text: string, { delimiter, isExact = false }: CsvFormat): readonly string[][] | undefined {
    try {
      return parse(text, { ...LAYOUT, delimiter, trim: !isExact });
    } catch {
      return undefined;
    }
  }

  /** Records with their cells, which are so many, or why they have none. */
  function cellsOf<R>(
    records: readonly R[],
    textOf: (record: R) => string,
    format: CsvFormat,
    columns: number,
  ): (readonly [R, readonly string[] | string])[] {
    const texts = records.map(textOf);
    const together = fieldsOf(texts.join('\n'), format);
    // One malformed record fails the whole call, so each is then parsed alone.
    const alone = (text = '') => (fieldsOf(text, format) ?? fieldsOf(withPrimes(text), format))?.[0];
    return records.map((record, at) => {
      const cells = together?.length === texts.length ? together[at] : alone(texts[at]);
      if (cells === undefined) return [record, 'a quote is missing or misplaced'];
      const { length } = cells;
      const isFull = length === columns || (length > columns && cells.slice(columns).every((cell) => cell === ''));
      return [record, isFull ? cells : `${length} fields, but the header has ${columns}`];
    });
  }

  return { fieldsOf, cellsOf };
}

/** How lines become records. */
interface Joining<L, R> {
  readonly quotesIn: (line: L) => number;
  readonly sizeOf: (part: L | R) => number;
  readonly join: (lines: readonly L[]) => R;
}

/**
 * The records of a table: one line, or several that a quoted field spans. If such a record turns out to be malformed, all
 * its lines but the first are read again as records, so that a stray quote invalidates only its own line.
 */
export class CsvRecords<L, R extends { readonly text: string | undefined }> {
  readonly #source: AsyncGenerator<readonly L[]>;
  readonly #joining: Joining<L, R>;
  /** Lines read ahead, and the index of the next one. */
  #lines: readonly L[] = [];
  #next = 0;

  constructor(source: AsyncGenerator<readonly L[]>, joining: Joining<L, R>) {
    this.#source = source;
    this.#joining = joining;
  }

  async #line(): Promise<L | undefined> {
    while (this.#next >= this.#lines.length) {
      const more = await this.#source.next();
      if (more.done === true) return undefined;
      this.#lines = more.value;
      this.#next = 0;
    }
    this.#next += 1;
    return this.#lines[this.#next - 1];
  }

  /** The next record; undefined at the end of the file. */
  async #record(isRecord: (text: string) => boolean): Promise<R | undefined> {
    const { quotesIn, sizeOf, join } = this.#joining;
    const first = await this.#line();
    if (first === undefined) return undefined;
    const lines = [first];
    let quotes = quotesIn(first);
    let size = sizeOf(first);
    while (quotes % 2 === 1 && size <= LONGEST_RECORD) {
      const line = await this.#line();
      if (line === undefined) break;
      lines.push(line);
      quotes += quotesIn(line);
      size += sizeOf(line);
    }
    const record = join(lines);
    const { text } = record;
    if (lines.length === 1 || (text !== undefined && quotes % 2 === 0 && isRecord(text))) return record;
    this.#lines = [...lines.slice(1), ...this.#lines.slice(this.#next)];
    this.#next = 0;
    return join([first]);
  }

  /** The first record that is not blank, undefined if there is none, and the delimiter: comma, semicolon, tab or bar. */
  async header(): Promise<{ readonly record: R | undefined; readonly delimiter: Delimiter }> {
    let told: Delimiter | undefined;
    for (;;) {
      const record = await this.#record(() => true);
      const text = record?.text ?? '';
      const [, delimiter] = SEPARATOR_LINE.exec(text.trim()) ?? [];
      if (delimiter !== undefined) told = delimiter as Delimiter;
      else if (record?.text?.trim() !== '') return { record, delimiter: told ?? delimiterOf(text) };
    }
  }

  /** The records below the header, in batches, without those that have no content: Excel exports them below a table. */
  async *below(delimiter: Delimiter, isRecord: (text: string) => boolean): AsyncGenerator<readonly R[]> {
    let batch: R[] = [];
    let size = 0;
    for (let record = await this.#record(isRecord); record !== undefined; record = await this.#record(isRecord)) {
      if (record.text?.replaceAll(delimiter, '').trim() === '') continue;
      batch.push(record);
      size += this.#joining.sizeOf(record);
      if (batch.length < BATCH && size < BATCH_SIZE) continue;
      yield batch;
      batch = [];
      size = 0;
    }
    if (batch.length > 0) yield batch;
  }
}
