import { shown } from '../../errors.js';
import { isStorable } from '../../model/dynamodb-limits.js';
import type { ReadOptions } from './fields.js';

/** What precedes decimals. */
type Notation = 'point' | 'comma';
type Type = Notation | 'boolean' | 'text';

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Codes and telephone numbers, whose zeros and plus signs count. */
const CODE = /^[+-]?0\d|^\+\d{7,}$/;
/** Thousands in groups. */
const GROUPED = {
  point: /^[+-]?[1-9]\d{0,2}(?:[,'’\s]\d{3})+(?:\.\d+)?$/,
  comma: /^[+-]?[1-9]\d{0,2}(?:[.'’\s]\d{3})+(?:,\d+)?$/,
} as const;
const NOTATIONS = [
  { notation: 'point', decimal: '.', groups: /[,'’\s]/g, other: 'comma' },
  { notation: 'comma', decimal: ',', groups: /[.'’\s]/g, other: 'point' },
] as const;
/** Perhaps a telephone number, or a code such as 110 001, if all cells of a column are like this. */
const BLOCKS = /^\d{3}(?: \d{3})+$/;
/** No double has more digits; one that was written with fewer is read back the same. */
const MOST_DIGITS = 17;
const BOOLEAN = /^(?:true|false)$/i;
/** Columns that are named because their cells are mixed. */
const MOST_NAMED = 8;

const digitsOf = (text: string) => text.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '');

/** The number that a text in decimal notation is; undefined if digits would be lost, or for a code unless `isNumber`. */
export function exactNumber(text: string, isNumber = false): number | undefined {
  const value = Number(text);
  if (!DECIMAL.test(text) || (!isNumber && CODE.test(text)) || !isStorable(value)) return undefined;
  const digits = digitsOf(text);
  if (digits.length > MOST_DIGITS || digitsOf(value.toPrecision(digits.length || 1)) !== digits) return undefined;
  return value + 0;
}

function numberIn(cell: string, { notation, decimal, groups }: (typeof NOTATIONS)[number], isNumber = false) {
  // Most texts end here.
  if (!/^[+\-−.,\d]/.test(cell)) return undefined;
  const text = cell.replace('−', '-');
  return exactNumber((GROUPED[notation].test(text) ? text.replace(groups, '') : text).replace(decimal, '.'), isNumber);
}

interface Column {
  readonly name: string;
  /** The first cell that is not of a type. */
  readonly not: Partial<Record<Type, string>>;
  /** Cells with decimals in a notation. */
  readonly decimals: Record<Notation, number>;
  hasNumbers: boolean;
  /** A cell that is `BLOCKS`, and whether another one has thousands in groups with blanks. */
  blocks?: string;
  hasGroups?: boolean;
  readonly isNumber: boolean;
}

/** The type of each column of a table, from all of its cells: a column of numbers has nothing else. */
export class ColumnTypes {
  readonly #columns: readonly Column[];
  /** They have no thousands, and so tell the notation. */
  readonly #coordinates: readonly string[];
  readonly #delimiter: string;
  readonly #options: ReadOptions;
  #types: readonly Type[] | undefined;

  constructor(names: readonly string[], coordinates: readonly string[], delimiter: string, options: ReadOptions) {
    this.#columns = names.map((name) => {
      const isNumber = options.numberColumn?.includes(name) ?? false;
      return { name, isNumber, not: {}, decimals: { point: 0, comma: 0 }, hasNumbers: false };
    });
    this.#coordinates = coordinates;
    this.#delimiter = delimiter;
    this.#options = options;
  }

  /** Adds a row. */
  add(cells: readonly string[]): void {
    for (const [at, column] of this.#columns.entries()) {
      const cell = (cells[at] ?? '').trim();
      if (cell === '') continue;
      if (!BOOLEAN.test(cell)) column.not.boolean ??= cell;
      if (BLOCKS.test(cell)) column.blocks ??= cell;
      else column.hasGroups ||= /\d\s\d/.test(cell);
      for (const each of NOTATIONS) {
        if (numberIn(cell, each, column.isNumber) === undefined) column.not[each.notation] ??= cell;
        else {
          column.hasNumbers = true;
          const isSure = this.#coordinates.includes(column.name) || !GROUPED[each.other].test(cell);
          if (cell.includes(each.decimal) && isSure) column.decimals[each.notation] += 1;
        }
      }
    }
  }

  /** The value of a cell without blanks around it; call after all rows were added. */
  valueOf(at: number, cell: string): unknown {
    const type = (this.#types ??= this.#decide())[at];
    if (type === 'boolean') return cell.toLowerCase() === 'true';
    const notation = NOTATIONS.find((each) => each.notation === type);
    return (notation && numberIn(cell, notation, this.#columns[at]?.isNumber)) ?? cell;
  }

  /** Says of columns with numbers and other cells what they are, except for `texts` and coordinates. */
  notes(texts: readonly (string | undefined)[]): string[] {
    const types = (this.#types ??= this.#decide());
    const notes = this.#columns.flatMap(({ name, not, hasNumbers }, at) => {
      const type = types[at] ?? 'text';
      const other = not[type === 'text' ? this.#notation() : type];
      const isChosen = [...texts, ...this.#coordinates, ...(this.#options.textColumn ?? [])].includes(name);
      if (isChosen || !hasNumbers || other === undefined) return [];
      if (type !== 'text') return [`column ${shown(name)} has numbers, but ${shown(other)} stays text`];
      return [
        `column ${shown(name)} is text, as ${shown(other)} is no number with all its digits; pass --number-column if it is`,
      ];
    });
    const more = notes.length - MOST_NAMED;
    return more > 0 ? [...notes.slice(0, MOST_NAMED), `${more} more columns are mixed`] : notes;
  }

  /** The notation of the table: that of its coordinates, or else of most decimals unless 12,13 may be a list. */
  #notation(): Notation {
    const sum = (columns: readonly Column[]) =>
      columns.reduce((votes, { decimals }) => votes + decimals.comma - decimals.point, 0);
    const own = sum(this.#columns.filter(({ name }) => this.#coordinates.includes(name)));
    const votes = own === 0 && this.#delimiter !== ',' ? sum(this.#columns) : own;
    // Spreadsheets separate columns by semicolons where a comma precedes decimals.
    return votes > 0 || (votes === 0 && this.#delimiter === ';') ? 'comma' : 'point';
  }

  #decide(): Type[] {
    const usual = this.#notation();
    return this.#columns.map(({ name, not, decimals, isNumber, blocks, hasGroups = false }) => {
      if (blocks !== undefined && !hasGroups) {
        not.point ??= blocks;
        not.comma ??= blocks;
      }
      // Beside decimal commas, points in a column without commas are decimal points, too.
      const hasPoints = not.point === undefined && decimals.point > 0 && decimals.comma === 0;
      const hasCommas = isNumber && decimals.comma > 0 && decimals.point === 0;
      const notation = hasPoints ? 'point' : hasCommas ? 'comma' : usual;
      if (this.#options.textColumn?.includes(name) === true) return 'text';
      if (not[notation] === undefined || isNumber) return notation;
      return not.boolean === undefined ? 'boolean' : 'text';
    });
  }
}
