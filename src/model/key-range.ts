/** What one Query reads: the items of a partition whose sort keys lie between two bounds, both included. */
export interface KeyRange {
  readonly index: 'geoA' | 'geoB' | 'cells';
  readonly pk: string;
  readonly from: string;
  readonly to: string;
}
