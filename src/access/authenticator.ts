import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';

import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { accessVersion, revokedSubjects, storedRules, type RevokedBefore } from '../store/access/access-items.js';
import { newCall, type Database } from '../store/database.js';
import { Access, ANONYMOUS, type Principal } from './access.js';
import { hashOfKey } from './api-key.js';
import { secretIn, unauthenticated, type Credential } from './credential.js';
import { principalOfKey } from './key-principal.js';
import { readRules, type AccessRules } from './rules.js';
import { CLOCK_SKEW_MS, Tokens } from './tokens.js';

/** A change is in force within this time and that of one read. */
const LOOK_EVERY_MS = 400;
/** Rules that could not be read for this long may be others by now. */
const TRUSTED_FOR_MS = 5_000;
const KNOWN_BYTES = 16 * 1024 * 1024;
/** An issuer's new key makes a token count that did not before; an item of a key may be deleted by other means than ours. */
const KNOWN_FOR_MS = 30_000;
/** How long a read for all requests may take. */
const READ_WITHIN_MS = 5_000;

/** Rules as of one version, and what is known of credentials under them. */
interface Loaded {
  readonly version: number;
  readonly rules: AccessRules | undefined;
  readonly tokens: Tokens | undefined;
  readonly revokedBefore: RevokedBefore;
  /** See `Grant`. */
  readonly cursorSecret: Uint8Array;
  /** By the hash of the credential: what it allows, or why it does not count. */
  readonly known: LRUCache<string, Access | CellportError>;
  /** The same while it is found out: after a change, thousands of streams may ask for one credential at once. */
  readonly finding: Map<string, Promise<Access | CellportError>>;
}

const NOBODY: AccessRules = { roles: {} };
const NO_RULES = new CellportError(
  'FORBIDDEN',
  'CELLPORT_AUTH is on, but there are no access rules yet: write them as docs/access.md shows, and run `cellport access set FILE`',
);
const RULES_CHANGED = new CellportError('FORBIDDEN', 'the access rules have changed: connect again');
const EXPIRED = unauthenticated('the credential has expired');
const UNKNOWN = new CellportError('UNAVAILABLE', 'your permissions cannot be read: connect again later');
/** Whether an error is about the credential: otherwise it is not known what that allows. */
const isRefusal = (error: unknown): error is CellportError =>
  error instanceof CellportError && error.code !== 'UNAVAILABLE' && error.code !== 'THROTTLED';
/** What setTimeout can wait. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** Open streams that are told of a change between two turns. */
const TOLD_IN_A_TURN = 200;
const NO_CREDENTIAL = unauthenticated('this server requires an API key or a token, see docs/access.md');

/** Tells who asks and what they may do. All of it follows what is stored: a change is in force within half a second. */
export class Authenticator {
  readonly #db: Database;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #changed = new Set<() => void>();
  #loaded: Loaded | undefined;
  #readAt = -Infinity;
  #watching: Promise<void> | undefined;
  #looking: Promise<void> | undefined;

  constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Begins to follow the rules. Without, they are read when they are needed. */
  start(): void {
    this.#watching ??= this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  /** Calls a function after each change, until the returned one is called. */
  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  /**
   * What the sender of a credential may do. Throws UNAUTHENTICATED for one that does not verify or has expired, or for none
   * where nobody has the role `anonymous`; FORBIDDEN without rules; UNAVAILABLE if the rules cannot be read; and what
   * `beforeLookup` throws, which is called before a credential that is not known is looked up.
   */
  async access(credential: Credential, beforeLookup?: () => void): Promise<Access> {
    const loaded = await this.#current();
    if (loaded.rules === undefined) throw NO_RULES;
    const secret = secretIn(credential);
    // An empty secret is not the same as none.
    const name = secret === undefined ? ANONYMOUS : hash('sha256', secret, 'base64');
    let found = loaded.known.get(name);
    if (found === undefined) {
      if (secret !== undefined) beforeLookup?.();
      found = await (loaded.finding.get(name) ?? this.#find(name, secret, loaded));
    }
    if (found instanceof CellportError) throw found;
    const { expiresAt, id } = found.principal;
    if (expiresAt === undefined) return found;
    const skew = id.startsWith('token:') ? CLOCK_SKEW_MS : 0;
    if (expiresAt + skew <= this.#db.clock.wall()) throw EXPIRED;
    return found;
  }

  /**
   * Follows what the sender of a credential may do while a stream is open: calls `end` with the reason once that is no
   * longer what it was, or has not been known for as long as rules are trusted. Returns the function that stops it.
   */
  hold(credential: Credential, access: Access, end: (reason: CellportError) => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    let again: NodeJS.Timeout | undefined;
    let isHeld = true;
    let unknownSince: number | undefined;
    const check = async () => {
      try {
        const { fingerprint } = await this.access(credential);
        unknownSince = undefined;
        if (fingerprint !== access.fingerprint) end(RULES_CHANGED);
      } catch (error) {
        if (!isRefusal(error)) {
          clearTimeout(again);
          unknownSince ??= this.#db.clock.now();
          if (this.#db.clock.now() - unknownSince > TRUSTED_FOR_MS) end(UNKNOWN);
          else if (isHeld) again = setTimeout(() => void check(), LOOK_EVERY_MS);
          return;
        }
        const isExpired = (access.principal.expiresAt ?? Infinity) <= this.#db.clock.wall();
        end(isExpired ? error : new CellportError('FORBIDDEN', error.message));
      }
    };
    const endsAt = this.#endOf(access);
    const expire = () => {
      const left = endsAt - this.#db.clock.wall();
      if (left <= 0) end(EXPIRED);
      else if (Number.isFinite(left)) timer = setTimeout(expire, Math.min(left, LONGEST_TIMEOUT_MS));
    };
    const release = this.onChange(() => void check());
    expire();
    // It may have changed since the credential was read.
    void check();
    return () => {
      isHeld = false;
      release();
      clearTimeout(timer);
      clearTimeout(again);
    };
  }

  /** When streams end, in milliseconds since 1970: with the token, unless it is one that is only accepted for clocks that differ. */
  #endOf({ principal: { expiresAt = Infinity } }: Access): number {
    return expiresAt > this.#db.clock.wall() ? expiresAt : expiresAt + CLOCK_SKEW_MS;
  }

  #find(name: string, secret: string | undefined, loaded: Loaded): Promise<Access | CellportError> {
    const finding = (async () => {
      try {
        const found = secret === undefined ? this.#anonymous(loaded) : await this.#identify(secret, loaded);
        loaded.known.set(name, found);
        return found;
      } finally {
        loaded.finding.delete(name);
      }
    })();
    loaded.finding.set(name, finding);
    return finding;
  }

  #anonymous({ rules = NOBODY, cursorSecret }: Loaded): Access | CellportError {
    if (rules.roles[ANONYMOUS] === undefined) return NO_CREDENTIAL;
    const nobody = { id: ANONYMOUS, name: null, roles: [ANONYMOUS], variables: {}, expiresAt: undefined };
    return new Access(nobody, rules, cursorSecret);
  }

  async #identify(secret: string, loaded: Loaded): Promise<Access | CellportError> {
    try {
      const keyHash = hashOfKey(secret);
      const principal = await (keyHash === undefined
        ? this.#ofToken(secret, loaded)
        : principalOfKey(newCall(this.#db, AbortSignal.timeout(READ_WITHIN_MS)), keyHash, this.#log));
      return new Access(principal, loaded.rules ?? NOBODY, loaded.cursorSecret);
    } catch (error) {
      // A variable may have a value that no rule can compare with; that of DynamoDB must be tried again.
      if (!isRefusal(error)) throw error;
      return error.code === 'UNAUTHENTICATED'
        ? error
        : unauthenticated(`the credential fits no rule: ${error.message}`);
    }
  }

  async #ofToken(token: string, { tokens, revokedBefore }: Loaded): Promise<Principal> {
    if (tokens === undefined) throw unauthenticated('the API key is unknown or revoked');
    const { principal, subject, issuedAt } = await tokens.verify(token, this.#db.clock.wall());
    if (issuedAt < (revokedBefore(subject) ?? -Infinity)) throw unauthenticated('the token has been revoked');
    return principal;
  }

  async #current(): Promise<Loaded> {
    try {
      const trustedMs = this.#watching === undefined ? LOOK_EVERY_MS : TRUSTED_FOR_MS;
      if (this.#loaded === undefined || this.#db.clock.now() - this.#readAt > trustedMs) await this.#look();
    } catch (cause) {
      // What is wrong with them is nobody else's business.
      throw new CellportError('UNAVAILABLE', 'the access rules cannot be read', {}, { cause });
    }
    if (this.#loaded === undefined) throw new Error('rules that were read are not there');
    return this.#loaded;
  }

  /** Reads the version, and everything if it has changed; once for all who wait for it. */
  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #read(): Promise<void> {
    const call = newCall(this.#db, AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(READ_WITHIN_MS)]));
    const began = this.#db.clock.now();
    const version = await accessVersion(call);
    if (version !== this.#loaded?.version) {
      const reads = [storedRules(call), revokedSubjects(call)] as const;
      const [stored, revokedBefore] = await Promise.all(reads);
      const rules = stored && readRules(JSON.parse(stored.json));
      const cursorSecret = Buffer.from(stored?.secret ?? '', 'base64');
      const known = new LRUCache<string, Access | CellportError>({
        maxSize: KNOWN_BYTES,
        ttl: KNOWN_FOR_MS,
        // Otherwise each look-up in a new millisecond starts a timer.
        ttlResolution: 0,
        sizeCalculation: (one) => (one instanceof Access ? 1_000 + 2 * one.fingerprint.length : 500),
      });
      const isFirst = this.#loaded === undefined;
      // Its keys are not read again for each change.
      const isSameIssuer = isDeepStrictEqual(rules?.jwt, this.#loaded?.rules?.jwt);
      this.#loaded = {
        version,
        rules,
        tokens: isSameIssuer ? this.#loaded?.tokens : rules?.jwt && new Tokens(rules.jwt),
        revokedBefore,
        cursorSecret,
        known,
        finding: new Map(),
      };
      if (!isFirst) await this.#tell();
    }
    this.#readAt = began;
  }

  async #tell(): Promise<void> {
    for (const [index, listener] of [...this.#changed].entries()) {
      if (index % TOLD_IN_A_TURN === 0) await this.#db.scheduler.takeTurn();
      listener();
    }
  }

  async #watch(): Promise<void> {
    const { clock } = this.#db;
    const { signal } = this.#stopping;
    let failed = false;
    let isTold = false;
    while (!signal.aborted) {
      try {
        await this.#look();
        failed = isTold = false;
      } catch (err) {
        if (!failed && !signal.aborted) this.#log.error({ err }, 'Cannot read the access rules');
        failed = true;
        // Nor do open streams outlive what is known of the rules.
        if (!isTold && clock.now() - this.#readAt > TRUSTED_FOR_MS) {
          isTold = true;
          await this.#tell();
        }
      }
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }
}
