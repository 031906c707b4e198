import { CellportError } from '../errors.js';

/** What a request says about who sends it. */
export interface Credential {
  /** `Bearer …`, with a token or an API key. */
  readonly authorization?: string | undefined;
  readonly apiKey?: string | undefined;
  /** By lower-case name; undefined for a call of the program that has this server inside. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

export const unauthenticated = (reason: string) => new CellportError('UNAUTHENTICATED', reason);

/** A header that is no text is a credential that does not verify. */
const textOf = (value: unknown) =>
  typeof value === 'string' ? value : value === undefined || value === null ? undefined : '';

/** The credential in headers, by lower-case name. */
export const credentialIn = (headers: Readonly<Record<string, unknown>>): Credential => ({
  authorization: textOf(headers['authorization']),
  apiKey: textOf(headers['x-api-key']),
  headers,
});

/** The key or token itself; undefined for a request that has none. Throws UNAUTHENTICATED for two, or another scheme. */
export function secretIn({ authorization, apiKey }: Credential): string | undefined {
  if (authorization === undefined) return apiKey;
  if (apiKey !== undefined) throw unauthenticated('send either Authorization or x-api-key');
  const [, secret] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  if (secret === undefined) throw unauthenticated('Authorization must be `Bearer` and an API key or a token');
  return secret;
}
