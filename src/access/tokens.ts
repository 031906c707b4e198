import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';

import { CellportError } from '../errors.js';
import type { Principal } from './access.js';
import { unauthenticated } from './credential.js';
import type { TokenRules } from './rules.js';

/** Signatures that only the issuer can make. A secret that both sides know, or no signature, is none of them. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** By how much the issuer's clock may differ. */
export const CLOCK_SKEW_MS = 60_000;
const JWKS_TIMEOUT_MS = 3_000;
const JWKS_COOLDOWN_MS = 30_000;
const LONGEST = 8 * 1024;

/** The claim at a path: a name as it is, or names with points between them. */
function claimAt(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, name) => {
    const isMap = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return isMap ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }, claims);
}

function rolesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/[ ,]+/).filter(Boolean);
  return Array.isArray(value) ? value.filter((role) => typeof role === 'string') : [];
}

/** A token that verifies: who it is of, and when it was issued in milliseconds since 1970. */
export interface VerifiedToken {
  readonly principal: Principal;
  readonly subject: string;
  readonly issuedAt: number;
}

/** Codes of jose's errors that are about the keys of the issuer, whatever the token. */
const OF_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];

/** Why a token does not verify, without what it holds. */
function reasonOf(error: unknown): CellportError {
  if (error instanceof errors.JWTExpired) return unauthenticated('the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unauthenticated(`the token's claim ${JSON.stringify(error.claim)} is not as the rules ask`);
  }
  if (error instanceof errors.JOSEError && !OF_KEYS.includes(error.code)) {
    return unauthenticated('the token is not valid');
  }
  return new CellportError(
    'UNAVAILABLE',
    'the keys of the issuer of tokens cannot be read; try again',
    {},
    { cause: error },
  );
}

/** Verifies tokens under some rules. */
export class Tokens {
  readonly #rules: TokenRules;
  readonly #keys: JWTVerifyGetKey;

  constructor(rules: TokenRules) {
    this.#rules = rules;
    const { jwks } = rules;
    this.#keys =
      typeof jwks === 'string'
        ? createRemoteJWKSet(new URL(jwks), { timeoutDuration: JWKS_TIMEOUT_MS, cooldownDuration: JWKS_COOLDOWN_MS })
        : createLocalJWKSet(jwks as unknown as JSONWebKeySet);
  }

  /** Throws UNAUTHENTICATED if the token does not verify at a time in milliseconds since 1970, UNAVAILABLE if that cannot be known. */
  async verify(token: string, now: number): Promise<VerifiedToken> {
    if (token.length > LONGEST) throw unauthenticated(`the token is longer than ${LONGEST} characters`);
    const { issuer, audience, roles, variables } = this.#rules;
    const options = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_SKEW_MS / 1_000,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'sub'],
    };
    const { payload } = await jwtVerify(token, this.#keys, options).catch((error: unknown) => {
      throw reasonOf(error);
    });
    const { sub: subject, exp = 0, iat = 0, name } = payload;
    // By which tokens are revoked.
    if (typeof subject !== 'string') throw unauthenticated('the token\'s claim "sub" is not text');
    const filled = Object.entries(variables).flatMap(([variable, path]) => {
      const value = claimAt(payload, path);
      return value === undefined || value === null ? [] : [[variable, value] as const];
    });
    return {
      subject,
      issuedAt: 1_000 * iat,
      principal: {
        id: `token:${subject}`,
        name: typeof name === 'string' ? name : subject,
        roles: rolesIn(claimAt(payload, roles)),
        variables: Object.fromEntries(filled),
        expiresAt: 1_000 * exp,
      },
    };
  }
}
