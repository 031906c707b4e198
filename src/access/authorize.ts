import type { Action, Grant, MarkerFilter } from '../model/grant.js';
import { readFilter } from '../read/filter.js';
import { Access, both } from './access.js';
import type { Authenticator } from './authenticator.js';
import type { Authorize } from './authorization.js';
import type { Credential } from './credential.js';

const SOMEBODY = { id: 'authorized', name: null, roles: [], variables: {}, expiresAt: undefined };

/** What a function of others allows who sends a request, in place of rules. */
class Authorized extends Access {
  readonly #rowsOf: (action: Action, collection: string) => { readonly rows: MarkerFilter | undefined } | undefined;
  readonly #cursorSecret: Uint8Array;

  constructor(authorize: Authorize, { headers }: Credential, cursorSecret: Uint8Array) {
    super(SOMEBODY, { roles: {} }, cursorSecret);
    this.#cursorSecret = cursorSecret;
    const request = headers === undefined ? null : { headers };
    this.#rowsOf = (action, collection) => {
      const answer = authorize({ request, action, collection });
      if (answer === true) return { rows: undefined };
      // Anything else, such as the promise of an answer, allows nothing.
      return typeof answer === 'object' && 'where' in answer ? { rows: readFilter(answer.where) } : undefined;
    };
  }

  override grant(action: Action, key: string): Grant | undefined {
    const allowed = this.#rowsOf(action, key);
    if (allowed === undefined) return undefined;
    // As with rules: who may read only some markers changes only those.
    const rows = action === 'read' ? allowed.rows : both(allowed.rows, this.#rowsOf('read', key)?.rows);
    return { rows, hidden: new Set(), cursorSecret: this.#cursorSecret };
  }

  override get readable(): readonly string[] {
    return ['*'];
  }

  override get isPartial(): boolean {
    return true;
  }

  override get isAdmin(): boolean {
    const all = this.#rowsOf('admin', '*');
    return all !== undefined && all.rows === undefined;
  }
}

/** In place of an authenticator: everybody is let in, and may do what a function allows. */
export const authorizedBy = (
  authorize: Authorize,
  cursorSecret: Uint8Array,
): Pick<Authenticator, 'access' | 'hold'> => ({
  access: async (credential) => new Authorized(authorize, credential, cursorSecret),
  // A stream asks again for each event.
  hold: () => () => undefined,
});
