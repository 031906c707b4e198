import { largestBudget, type Budget } from '../model/budget.js';
import { anyOf, type Action, type Grant, type Grants, type MarkerFilter } from '../model/grant.js';
import { largestQuotas, type Quotas } from '../model/quotas.js';
import { readFilter } from '../read/filter.js';
import { filled, type AccessRules, type Rule, type Variables } from './rules.js';

/** Who asks. */
export interface Principal {
  /** Tells it from all others: `key:…`, `token:…` or `anonymous`. */
  readonly id: string;
  /** Null for nobody in particular. */
  readonly name: string | null;
  readonly roles: readonly string[];
  /** What `$name` stands for in rules. */
  readonly variables: Variables;
  /** In milliseconds since 1970; undefined for never. */
  readonly expiresAt: number | undefined;
  /** Its own; undefined for that of its roles. */
  readonly budget?: Budget | undefined;
  /** Its own; what is missing is that of its roles. */
  readonly quotas?: Quotas | undefined;
}

/** The role of whoever sends no credential. */
export const ANONYMOUS = 'anonymous';

/** A rule with the principal's variables filled in. */
interface OwnRule extends Rule {
  readonly rows: MarkerFilter | undefined;
}

const matches = (pattern: string, key: string) =>
  pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : pattern === key;

/** The rules of a principal's roles; those whose variables it lacks allow nothing. */
function rulesOf({ roles, variables }: Principal, rules: AccessRules): OwnRule[] {
  return [...new Set(roles)].flatMap((role) =>
    (rules.roles[role]?.rules ?? []).flatMap((rule): OwnRule[] => {
      const where = rule.where && filled(rule.where, variables);
      if (rule.where !== undefined && where === undefined) return [];
      return [{ ...rule, rows: readFilter(where) }];
    }),
  );
}

/** The markers that one rule or another allows; undefined for all. */
function rowsOf(rules: readonly OwnRule[]): MarkerFilter | undefined {
  const rows = rules.flatMap((rule) => rule.rows ?? []);
  return rows.length < rules.length ? undefined : anyOf(rows);
}

/** Names of properties that no rule shows for all markers, and that some hide. */
function hiddenBy(rules: readonly OwnRule[]): ReadonlySet<string> {
  const hidden = new Set(rules.flatMap(({ hide }) => hide));
  const isShown = (name: string) => rules.some(({ rows, hide }) => rows === undefined && !hide.includes(name));
  return new Set([...hidden].filter((name) => !isShown(name)));
}

/** The markers that match both filters. */
export const both = (one: MarkerFilter | undefined, other: MarkerFilter | undefined): MarkerFilter | undefined =>
  one && other
    ? {
        verdict(marker, collection) {
          const verdicts = [one.verdict(marker, collection), other.verdict(marker, collection)];
          return verdicts.includes('fail') ? 'fail' : verdicts.includes('unknown') ? 'unknown' : 'pass';
        },
        passes: (marker) => one.passes(marker) && other.passes(marker),
      }
    : (one ?? other);

/** What one principal may do. */
export class Access implements Grants {
  readonly principal: Principal;
  /** Equal for equal principals under equal rules: whether something has changed for them. */
  readonly fingerprint: string;
  /** What it may use; undefined for as much as it likes. Roles without a budget have no say. */
  readonly budget: Budget | undefined;
  /** What it may create and have. Roles without a quota have no say. */
  readonly quotas: Quotas;
  readonly #rules: readonly OwnRule[];
  readonly #cursorSecret: Uint8Array;
  /** By the action and the rules that allow it. */
  readonly #known = new Map<string, Grant>();

  /** Throws BAD_USER_INPUT if a variable has a value that its rule cannot compare with. */
  constructor(principal: Principal, rules: AccessRules, cursorSecret: Uint8Array) {
    this.principal = principal;
    this.#cursorSecret = cursorSecret;
    this.#rules = rulesOf(principal, rules);
    const { id, roles, variables } = principal;
    this.budget = principal.budget ?? largestBudget(roles.flatMap((role) => rules.roles[role]?.budget ?? []));
    this.quotas = { ...largestQuotas(roles.flatMap((role) => rules.roles[role]?.quotas ?? [])), ...principal.quotas };
    this.fingerprint = JSON.stringify([id, roles, variables, this.#rules, this.budget, this.quotas]);
  }

  /** Rules only ask for the key, so a collection that does not exist is treated like one that nobody may know of. */
  grant(action: Action, key: string): Grant | undefined {
    const rules = this.#allowing(action, key);
    if (rules.length === 0) return undefined;
    const reading = action === 'read' ? rules : this.#allowing('read', key);
    let name: string = action;
    for (const rule of action === 'read' ? rules : [...rules, ...reading]) name += ` ${this.#rules.indexOf(rule)}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    // Who may read only some markers changes only those: the answer to a change shows the marker.
    const rows = reading.length === 0 ? rowsOf(rules) : both(rowsOf(rules), rowsOf(reading));
    const { bytesPerMarker } = this.quotas;
    const grant = { rows, hidden: hiddenBy(reading), cursorSecret: this.#cursorSecret, bytesPerMarker };
    this.#known.set(name, grant);
    return grant;
  }

  #allowing(action: Action, key: string): readonly OwnRule[] {
    return this.#rules.filter(
      ({ may, collections }) => may.includes(action) && collections.some((one) => matches(one, key)),
    );
  }

  get readable(): readonly string[] | undefined {
    const rules = this.#rules.filter(({ may }) => may.includes('read'));
    const isWhole = ({ collections, rows, hide }: OwnRule) =>
      rows === undefined && hide.length === 0 && collections.includes('*');
    return rules.some(isWhole) ? undefined : this.keys('read');
  }

  /** Keys of the collections on which an action is allowed, or beginnings of keys and `*`. */
  keys(action: Action): readonly string[] {
    const rules = this.#rules.filter(({ may }) => may.includes(action));
    return [...new Set(rules.flatMap(({ collections }) => collections))];
  }

  /** Whether it administers all collections, and so may see what requests read and what they cost. */
  get isAdmin(): boolean {
    return this.#rules.some(
      ({ may, collections, rows }) => rows === undefined && may.includes('admin') && collections.includes('*'),
    );
  }

  /** Whether it sees only a part of some collections, so that what its questions cost tells of the other part. */
  get isPartial(): boolean {
    return this.#rules.some(({ rows, hide }) => rows !== undefined || hide.length > 0);
  }

  /** The rules, for people. */
  get permissions() {
    return this.#rules.map(({ collections, may, rows }) => ({
      collections,
      actions: may,
      filtered: rows !== undefined,
    }));
  }
}
