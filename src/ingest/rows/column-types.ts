import { shown } from '../../errors.js';
import { isStorable } from '../../model/dynamodb-limits.js';
import type { ReadOptions } from './fields.js';

/** The character before decimals. */
type Notation = 'point' | 'comma';
type Type = Notation | 'boolean' | 'text';
/** Each notation, the other one, and its decimal separator. */
const NOTATIONS = [
  ['point', 'comma', '.'],
  ['comma', 'point', ','],
] as const satisfies readonly (readonly [Notation, Notation, string])[];

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Codes and telephone numbers, whose zeros and plus signs count. */
const CODE = /^[+-]?0\d|^\+\d{7,}$/;
/** Thousands in groups, in a table with that notation. */
const GROUPED = {
  point: /^[+-]?[1-9]\d{0,2}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?$/,
  comma: /^[+-]?[1-9]\d{0,2}(?:[.\u00a0\u202f]\d{3})+(?:,\d+)?$/,
} as const;
const SEPARATORS = { point: /[,\u00a0\u202f]/g, comma: /[.\u00a0\u202f]/g } as const;
/** A double keeps so many digits of any number, and prints itself with two more. */
const DIGITS = { always: 15, most: 17 } as const;

const digitsOf = (text: string) => text.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '');

/** The number for which a cell stands; undefined if it is none, or the number would not keep all of its digits. */
function numberIn(cell: string, notation: Notation): number | undefined {
  // Most cells of text end here.
  if (!/^[+\-.,\d]/.test(cell)) return undefined;
  const bare = GROUPED[notation].test(cell) ? cell.replace(SEPARATORS[notation], '') : cell;
  const text = notation === 'comma' ? bare.replace(',', '.') : bare;
  const value = Number(text);
  if (String(value) === text && isStorable(value)) return value + 0;
  if (!DECIMAL.test(text) || CODE.test(text) || !isStorable(value)) return undefined;
  const digits = digitsOf(text);
  const isKept =
    digits.length <= DIGITS.always
      ? value !== 0 || digits === ''
      : digits.length <= DIGITS.most && digitsOf(value.toPrecision(digits.length)) === digits;
  return isKept ? value + 0 : undefined;
}

const BOOLEAN = /^(?:true|false)$/i;
/** Columns of mixed cells that are named. */
const MOST_NAMED = 8;

/** What is known of a column. */
interface Column {
  filled: number;
  booleans: number;
  /** Cells that are a number in each notation, and the first that is none. */
  readonly numbers: Record<Notation, number>;
  readonly others: Partial<Record<Notation, { readonly cell: string; readonly line: number }>>;
  /** Cells that are a number in one of the notations only. */
  readonly surely: Record<Notation, number>;
}

const newColumn = (): Column => ({
  filled: 0,
  booleans: 0,
  numbers: { point: 0, comma: 0 },
  others: {},
  surely: { point: 0, comma: 0 },
});

/** The sort of values in each column of a table, from all of its cells: a column of numbers has nothing else. */
export class ColumnTypes {
  readonly #names: readonly string[];
  readonly #columns: readonly Column[];
  readonly #coordinates: readonly string[];
  readonly #likely: Notation;
  readonly #options: ReadOptions;
  #types: readonly Type[] | undefined;

  /** `coordinates` are columns that tell the notation first; `likely` is the one if no number tells. */
  constructor(names: readonly string[], coordinates: readonly string[], likely: Notation, options: ReadOptions) {
    this.#names = names;
    this.#columns = names.map(newColumn);
    this.#coordinates = coordinates;
    this.#likely = likely;
    this.#options = options;
  }

  /** Adds a row; `line` is where it begins. */
  add(cells: readonly string[], line: number): void {
    for (const [at, column] of this.#columns.entries()) {
      const cell = (cells[at] ?? '').trim();
      if (cell === '') continue;
      column.filled += 1;
      if (BOOLEAN.test(cell)) column.booleans += 1;
      const isDegrees = this.#coordinates.includes(this.#names[at] ?? '');
      for (const [notation, other, decimal] of NOTATIONS) {
        const isNumber = numberIn(cell, notation) !== undefined;
        if (isNumber) column.numbers[notation] += 1;
        else column.others[notation] ??= { cell, line };
        // Degrees have no thousands.
        if (isNumber && cell.includes(decimal) && (isDegrees || !GROUPED[other].test(cell)))
          column.surely[notation] += 1;
      }
    }
  }

  /** The value of a cell; call after all rows were added. */
  valueOf(at: number, cell: string): unknown {
    const type = (this.#types ??= this.#decide())[at];
    const text = cell.trim();
    if (type === 'text' || type === undefined) return cell;
    return type === 'boolean' ? text.toLowerCase() === 'true' : (numberIn(text, type) ?? cell);
  }

  /** What was decided for each column of mixed cells, except for those that are `texts` anyway. */
  notes(texts: readonly (string | undefined)[]): string[] {
    const types = (this.#types ??= this.#decide());
    const notes = this.#columns.flatMap(({ filled, booleans, numbers, others }, at) => {
      const [name = '', type] = [this.#names[at], types[at]];
      const notation = type === 'comma' || type === 'point' ? type : this.#notation();
      const other = others[notation];
      const alike = Math.max(booleans, numbers[notation]);
      const isPlain = alike === 0 || alike === filled || this.#options.textColumn?.includes(name) === true;
      if (isPlain || other === undefined || texts.includes(name) || this.#coordinates.includes(name)) return [];
      const where = `${shown(other.cell)} on line ${other.line}`;
      if (type !== 'text') return [`column ${shown(name)} has numbers, and text where a cell is none, as ${where}`];
      const exactly = numbers[notation] === 0 ? 'true or false' : 'a number that keeps its digits';
      return [`column ${shown(name)} is text, as ${where} is not ${exactly}`];
    });
    const more = notes.length - MOST_NAMED;
    return more > 0 ? [...notes.slice(0, MOST_NAMED), `${more} more columns of mixed cells are text`] : notes;
  }

  /** The notation of the table: that of its coordinates, or else of most numbers. */
  #notation(): Notation {
    const degrees = this.#columns.filter((_, at) => this.#coordinates.includes(this.#names[at] ?? ''));
    for (const some of [degrees, this.#columns]) {
      const votes = (notation: Notation) => some.reduce((sum, { surely }) => sum + surely[notation], 0);
      if (votes('comma') !== votes('point')) return votes('comma') > votes('point') ? 'comma' : 'point';
    }
    return this.#likely;
  }

  #decide(): Type[] {
    const usual = this.#notation();
    const { textColumn = [], numberColumn = [] } = this.#options;
    return this.#columns.map(({ filled, booleans, numbers, surely }, at) => {
      const name = this.#names[at] ?? '';
      // With decimal commas elsewhere, points in a column without commas are decimal points, too.
      const notation = numbers.point === filled && surely.point > 0 && surely.comma === 0 ? 'point' : usual;
      if (textColumn.includes(name)) return 'text';
      if (numbers[notation] === filled || numberColumn.includes(name)) return notation;
      return booleans === filled ? 'boolean' : 'text';
    });
  }
}
