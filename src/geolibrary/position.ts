/** Where a page ends: after an item, or after all items of an ID if there is no range key. */
export interface TablePosition {
  readonly hashKey: bigint;
  readonly id: bigint;
  readonly rangeKey: string | number | bigint | undefined;
}

const POSITION = /^(-?\d{1,19}):(-?\d{1,19})(?::([SN]):(.+))?$/s;

/** Whether a string is a position in such a table, as in cursors. */
export function isGeoPosition(text: string): boolean {
  return POSITION.test(text);
}

const numberOf = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

/** A position as text, for cursors. */
export function formatPosition({ hashKey, id, rangeKey }: TablePosition): string {
  const behind = rangeKey === undefined ? '' : `:${typeof rangeKey === 'string' ? 'S' : 'N'}:${rangeKey}`;
  return `${hashKey}:${id}${behind}`;
}

/** The position that such text stands for. */
export function parsePosition(position: string): TablePosition {
  const [, hashKey = '0', id = '0', type, key = ''] = POSITION.exec(position) ?? [];
  const rangeKey = type === undefined ? undefined : type === 'S' ? key : numberOf(key);
  return { hashKey: BigInt(hashKey), id: BigInt(id), rangeKey };
}

/** The position before all items. */
export const FIRST = formatPosition({ hashKey: -(10n ** 19n) + 1n, id: 0n, rangeKey: undefined });
