import type { Item } from '../database.js';

interface Published {
  readonly scope: string;
  /** The version of the consumer's state after which it was published. */
  readonly version: number;
  readonly item: Item;
}

/** Well above what pages lack at any time. */
const MOST_BYTES = 8 * 1024 * 1024;

const bytesOf = (item: Item) =>
  Object.values(item).reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 500), 0);

/** What the consumer of this process has published lately, which need not be read from the table. */
export class OwnPublications {
  /** Oldest first. */
  #published: Published[] = [];
  #bytes = 0;
  /** The last version of which something is no longer kept. */
  #forgotten = -1;

  add(published: Published): void {
    this.#published.push(published);
    this.#bytes += bytesOf(published.item);
    while (this.#bytes > MOST_BYTES) {
      const oldest = this.#published.shift();
      if (!oldest) return;
      this.#bytes -= bytesOf(oldest.item);
      this.#forgotten = Math.max(this.#forgotten, oldest.version);
    }
  }

  /**
   * What was published in a scope from one version to another, both included; undefined unless it is known to be all of it,
   * by an owner that began after version `began`.
   */
  of(scope: string, from: number, to: number, began: number): readonly Item[] | undefined {
    // Only its owner raises the version, so it has published everything since it began.
    const isOwner = from >= began && this.#published.some(({ version }) => version === to);
    if (!isOwner || from <= this.#forgotten) return undefined;
    const own = this.#published.filter((one) => one.scope === scope && one.version >= from && one.version <= to);
    return own.map(({ item }) => item);
  }
}
