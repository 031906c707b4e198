/**
 * A path in a hierarchy, outermost name first, e.g. `['Poznań', 'A', '2', '13']`. Names are in Unicode NFC, and none is
 * empty. A marker without a place has an empty path.
 */
export type Place = readonly string[];

/** How many markers are at a place or inside it. */
export interface PlaceCount {
  /** The last name of the place. */
  readonly name: string;
  readonly place: Place;
  readonly count: number;
}
