import type { DocumentNode } from 'graphql';

import { limitExceeded } from '../errors.js';
import { bytesOfValue } from '../model/memory.js';
import { documentBytes } from './document-limits.js';

/** Memory for the requests of all subscriptions of a server, with their documents. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The requests that subscriptions keep in memory for as long as they last. */
export class HeldRequests {
  /** The number of subscriptions with each document. */
  readonly #users = new Map<DocumentNode, number>();
  #bytes = 0;

  /** Adds a request; returns the function that removes it, to be called once. Throws LIMIT_EXCEEDED. */
  hold(document: DocumentNode, request: object): () => void {
    const own = bytesOfValue(request);
    const shared = documentBytes(document);
    const users = this.#users.get(document) ?? 0;
    const bytes = this.#bytes + own + (users > 0 ? 0 : shared);
    if (bytes > MOST_BYTES) {
      const advice = 'use one short document with variables for all subscriptions, or another server';
      throw limitExceeded('bytes of the subscriptions on this server', bytes, MOST_BYTES, advice);
    }
    this.#users.set(document, users + 1);
    this.#bytes = bytes;
    return () => {
      const others = (this.#users.get(document) ?? 1) - 1;
      this.#users.set(document, others);
      if (others === 0) this.#users.delete(document);
      this.#bytes -= own + (others > 0 ? 0 : shared);
    };
  }
}
