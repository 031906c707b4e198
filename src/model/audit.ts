/** One change, or the attempt; never its values. */
export interface AuditedChange {
  /** The field of the mutation, or the command. */
  readonly what: string;
  readonly collection: string | undefined;
  /** Keys or IDs of what it is about, and how many more there are. */
  readonly keys: readonly string[];
  readonly more: number;
  /** `OK`, or the code of the error. */
  readonly outcome: string;
}

/** The changes of one operation, and who asked for them. */
export interface Audited {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The principal: its ID, and its name. */
  readonly who: string;
  readonly name: string | null;
  /** The address of the client; undefined if it is not known. */
  readonly from: string | undefined;
  readonly operation: string | undefined;
  readonly changes: readonly AuditedChange[];
}
