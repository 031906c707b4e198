/** For each scope, the begins of pages; null for any of its pages, because they are too many to name. */
export type PagesByScope = Readonly<Record<string, readonly string[] | null>>;

/** The pages that the two rounds of a batch have written. One that both have written is in the second. */
export type WrittenBatch = readonly [batch: number, first: PagesByScope, second: PagesByScope];

/**
 * The pages that a consumer has written lately. Its state lists them, so that other processes know which of the pages
 * that they have cached are still current.
 */
export interface WrittenPages {
  /** Lists what each batch after this one has written. */
  readonly since: number;
  /** The last complete batch when this was stored: a release that knows no such list stores an old one again. */
  readonly to: number;
  /** JSON of `WrittenBatch[]`, oldest first. */
  readonly batches: string;
}

/** The batches in a list, oldest first. */
export const batchesOf = ({ batches }: WrittenPages): readonly WrittenBatch[] =>
  JSON.parse(batches) as readonly WrittenBatch[];
