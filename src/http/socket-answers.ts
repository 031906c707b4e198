import { randomUUID } from 'node:crypto';

import type { OperationResult } from '../graphql/operation-result.js';
import { writtenAnswer } from '../graphql/written-answer.js';

const MARK_LENGTH = 36;
/** The end of a graphql-ws message whose payload is a mark. */
const BEFORE = '{"';
const AFTER = '":0}}';

/**
 * Answers sent through graphql-ws, which writes each message with one JSON.stringify. Each answer is serialized
 * beforehand, in pieces and up to a limit, and replaces a mark in the message.
 */
export class SocketAnswers {
  readonly #maxBytes: number;
  readonly #texts = new Map<string, string>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the payload that stands for an answer in graphql-ws. */
  async mark(answer: OperationResult): Promise<Readonly<Record<string, number>>> {
    const text = await writtenAnswer(answer, this.#maxBytes);
    const mark = randomUUID();
    this.#texts.set(mark, text);
    return { [mark]: 0 };
  }

  /** Replaces the mark in a message by its answer; returns other messages unchanged. */
  spliced(message: string): string {
    const from = message.length - AFTER.length - MARK_LENGTH;
    const mark = message.slice(from, from + MARK_LENGTH);
    const text = this.#texts.get(mark);
    if (text === undefined) return message;
    this.#texts.delete(mark);
    return `${message.slice(0, from - BEFORE.length)}${text}}`;
  }
}
