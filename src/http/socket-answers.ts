import { randomUUID } from 'node:crypto';

import type { OperationResult } from '../graphql/operation-result.js';
import { writtenAnswer } from '../graphql/written-answer.js';

const MARK_LENGTH = 36;
/** How a message of graphql-ws ends whose payload is a mark. */
const BEFORE = '{"';
const AFTER = '":0}}';

/**
 * Answers on their way through graphql-ws, which writes its messages with one JSON.stringify: each is written before, in
 * pieces and up to a limit, and takes the place of a mark.
 */
export class SocketAnswers {
  readonly #maxBytes: number;
  readonly #texts = new Map<string, string>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The payload for graphql-ws that represents an answer. */
  async mark(answer: OperationResult): Promise<Readonly<Record<string, number>>> {
    const text = await writtenAnswer(answer, this.#maxBytes);
    const mark = randomUUID();
    this.#texts.set(mark, text);
    return { [mark]: 0 };
  }

  /** A message with the answer in place of its mark; other messages unchanged. */
  spliced(message: string): string {
    const from = message.length - AFTER.length - MARK_LENGTH;
    const mark = message.slice(from, from + MARK_LENGTH);
    const text = this.#texts.get(mark);
    if (text === undefined) return message;
    this.#texts.delete(mark);
    return `${message.slice(0, from - BEFORE.length)}${text}}`;
  }
}
