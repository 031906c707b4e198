import { shown } from '../errors.js';
import type { Action, Grant, MarkerFilter } from '../model/grant.js';
import { readFilter } from '../read/filter.js';
import { Access, both } from './access.js';
import type { Authenticator } from './authenticator.js';
import type { Authorize } from './authorization.js';
import type { Credential } from './credential.js';

const SOMEBODY = { id: 'authorized', name: null, roles: [], variables: {}, expiresAt: undefined };

const FILTERS = ['category', 'updatedAfter', 'properties'];

/** The filter; undefined if it filters nothing, such as one whose field is misspelt, which would show all markers. */
function rowsOf(where: unknown): MarkerFilter | undefined {
  if (typeof where !== 'object' || where === null) return undefined;
  return Object.keys(where).every((name) => FILTERS.includes(name)) ? readFilter(where) : undefined;
}

/** The filter in an answer. Throws for any other, such as the promise of an answer: an error that is not the client's. */
function rowsIn(answer: object): MarkerFilter {
  // Its failure would end the process.
  if (answer instanceof Promise) answer.catch(() => undefined);
  const text = `authorize must answer true, false or { where } with a comparison, at once; got ${shown(answer)}`;
  let rows: MarkerFilter | undefined;
  try {
    rows = rowsOf('where' in answer ? answer.where : undefined);
  } catch (cause) {
    throw new Error(text, { cause });
  }
  if (!rows) throw new Error(text);
  return rows;
}

/** What a function of others allows who sends a request, in place of rules. */
class Authorized extends Access {
  readonly #rowsOf: (action: Action, collection: string) => { readonly rows: MarkerFilter | undefined } | undefined;
  readonly #cursorSecret: Uint8Array;

  constructor(authorize: Authorize, { headers }: Credential, cursorSecret: Uint8Array) {
    super(SOMEBODY, { roles: {} }, cursorSecret);
    this.#cursorSecret = cursorSecret;
    const request = headers === undefined ? null : { headers };
    this.#rowsOf = (action, collection) => {
      const answer: unknown = authorize({ request, action, collection });
      if (answer === true) return { rows: undefined };
      return answer === false || answer === undefined || answer === null
        ? undefined
        : { rows: rowsIn(Object(answer) as object) };
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
  // A subscription asks again for each event.
  hold: () => () => undefined,
});
