/**
 * Where something hangs in a hierarchy, outermost first, e.g. `['Poznań', 'A', '2', '13']`: names in Unicode NFC, none of
 * them empty. No names at all for what hangs nowhere.
 */
export type Place = readonly string[];

/** How many markers hang at a place or somewhere inside it. */
export interface PlaceCount {
  /** The last name of the place. */
  readonly name: string;
  readonly place: Place;
  readonly count: number;
}
