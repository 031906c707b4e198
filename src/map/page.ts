import type { MapMarker } from '../model/marker.js';

/** What a client asks of a list: how many, and from where on. */
export interface PageInput {
  readonly first: number;
  /** A cursor that an earlier page of the same list gave. */
  readonly after?: string | null | undefined;
}

/** A page of markers in the order of their geohashes, then keys. */
export interface MarkerPage {
  readonly edges: readonly { readonly cursor: string; readonly node: MapMarker }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    /** Where the next page begins; not always the last edge's, as a page may end where its ceiling of reads does. */
    readonly endCursor: string | null;
  };
}
