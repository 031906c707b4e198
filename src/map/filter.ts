/** The contract's MarkerFilter. */
export interface MarkerFilterInput {
  readonly category?: readonly string[] | null | undefined;
  /** RFC 3339. */
  readonly updatedAfter?: string | null | undefined;
  readonly properties?: readonly PropertyFilterInput[] | null | undefined;
}

/** One comparison of a property: exactly one of the fields besides `name`. */
export interface PropertyFilterInput {
  readonly name: string;
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly in?: readonly unknown[] | null | undefined;
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly contains?: string | null | undefined;
  readonly exists?: boolean | null | undefined;
}
