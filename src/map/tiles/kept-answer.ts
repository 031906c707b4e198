/** An answer made of what a collection has in an area. */
export interface KeptAnswer {
  readonly body: Buffer;
  /** In other encodings, by their names. */
  readonly encoded: Map<string, Buffer>;
  /** Changes exactly when the body does. */
  readonly hash: string;
  readonly count: number;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

const ANSWER_BYTES = 1_000;

/** The most memory in bytes that an answer takes under a name: each of the encodings may take as much as the body. */
export const bytesOfAnswer = ({ body }: KeptAnswer, name: string): number =>
  ANSWER_BYTES + 2 * name.length + 3 * body.length;
