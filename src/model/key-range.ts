/** A range that one Query reads: the items of a partition between two sort keys, both included. */
export interface KeyRange {
  readonly index: 'geoA' | 'geoB' | 'cells';
  readonly pk: string;
  readonly from: string;
  readonly to: string;
}
