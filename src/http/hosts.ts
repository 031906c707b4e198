import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';

import { CellportError } from '../errors.js';
import { isLoopback, withoutBrackets } from '../loopback.js';

export interface HostOptions {
  /** The name or address that the server is bound to, 127.0.0.1 by default. */
  readonly host?: string | undefined;
  /** Other names that clients may use; a leading `.` allows all names in that domain, `*` any name. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Returns the error with which a request with this `Host` header is refused; undefined if it is allowed. */
export type CheckHost = (header: string | undefined) => CellportError | undefined;

/** The host name in a `Host` header, without its port; undefined if the header is malformed. */
function nameIn(header: string): string | undefined {
  if (/[/?#@\\]/.test(header) || !URL.canParse(`http://${header}`)) return undefined;
  return withoutBrackets(new URL(`http://${header}`).hostname).replace(/\.$/, '');
}

const isListed = (name: string) => (entry: string) =>
  entry.startsWith('.') ? name === entry.slice(1) || name.endsWith(entry) : name === withoutBrackets(entry);

/**
 * Returns a check of the name by which a client reaches the server. A page of another site can make its own name
 * resolve to this server's address (DNS rebinding), and the browser then takes both for the same site; but it still
 * sends that name. Loopback names cannot be taken over, and neither can addresses. Requests without the header do not
 * come from a browser.
 */
export function hostChecker({ host = '127.0.0.1', allowedHosts = [] }: HostOptions): CheckHost {
  const bound = withoutBrackets(host).toLowerCase();
  const anyAddress = !isLoopback(bound);
  return (header) => {
    if (header === undefined || allowedHosts.includes('*')) return undefined;
    const name = nameIn(header);
    if (name !== undefined) {
      if (isLoopback(name) || name === bound || allowedHosts.some(isListed(name))) return undefined;
      if (anyAddress && isIP(name) !== 0) return undefined;
    }
    const shown = JSON.stringify(header.slice(0, 80));
    return new CellportError(
      'FORBIDDEN',
      `host name ${shown} is not allowed; to allow it, add it to CELLPORT_ALLOWED_HOSTS`,
    );
  };
}

/** Refuses requests for other hosts with 403, before any other handler sees them. */
export function checkHosts(server: FastifyInstance, check: CheckHost): void {
  server.addHook('onRequest', async ({ headers }) => {
    const refused = check(headers.host);
    if (refused !== undefined) throw refused;
  });
}
