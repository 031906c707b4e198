import { BlockList, isIP } from 'node:net';

import { CellportError } from './errors.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** An IPv6 address without the brackets that URLs put around it; other names as they are. */
export const withoutBrackets = (name: string) => name.replace(/^\[(.*)\]$/, '$1');

/** The URL of a server at a name or an address. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether this name or address can be reached only from the same machine. */
export function isLoopback(name: string): boolean {
  const bare = withoutBrackets(name).toLowerCase();
  const version = isIP(bare);
  if (version === 0) return bare === 'localhost' || bare.endsWith('.localhost');
  return LOOPBACK.check(bare, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Refuses to serve anyone who can reach a server from another machine, unless the server asks who they are, refuses
 * changes, or that is what is wanted. Throws BAD_USER_INPUT naming HOST.
 */
export function checkReach(
  host: string,
  { auth, readOnly }: { readonly auth: boolean | undefined; readonly readOnly: boolean },
): void {
  if (auth !== undefined || readOnly || isLoopback(host)) return;
  const message =
    `HOST is ${host}, so that anyone who can reach this server could change and delete all data: set CELLPORT_AUTH=on to ` +
    'ask who they are (docs/access.md), CELLPORT_READ_ONLY=on to refuse changes, or CELLPORT_AUTH=off if that is what you want';
  throw new CellportError('BAD_USER_INPUT', message, { host });
}
