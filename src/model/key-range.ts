/** A range read by one Query: the items of a partition between two sort keys, both included. */
export interface KeyRange {
  readonly index: 'geoA' | 'geoB' | 'derived';
  readonly pk: string;
  readonly from: string;
  readonly to: string;
}
