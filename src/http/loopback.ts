import { BlockList, isIP } from 'node:net';

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
 * A warning for a server that anyone who reaches it may change; undefined if it can be reached only from this machine.
 */
export function accessWarning(host: string, readOnly: boolean): string | undefined {
  if (readOnly || isLoopback(host)) return undefined;
  return (
    `HOST is ${host} and there is no authentication: anyone who can reach this server can change and delete all data; ` +
    'CELLPORT_READ_ONLY=1 refuses changes'
  );
}
