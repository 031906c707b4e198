/**
 * A path in a hierarchy, outermost name first, for example `['Poznań', 'A', '2', '13']`. Names are in Unicode NFC and
 * not empty. A marker without a place has an empty path.
 */
export type Place = readonly string[];

/** The number of markers at a place or below it. */
export interface PlaceCount {
  /** The last name of the place. */
  readonly name: string;
  readonly place: Place;
  readonly count: number;
}
