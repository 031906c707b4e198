import type { IncomingHttpHeaders } from 'node:http';

import { CellportError } from '../errors.js';

/** Where the page is that sent a request, according to its browser. */
const SITE = 'sec-fetch-site';

/** Whether a request comes from a page of this server, according to its browser, which lets no page say so. */
export const isOwnPage = (headers: IncomingHttpHeaders): boolean => headers[SITE] === 'same-origin';

/**
 * Whether a request comes from a page of another site that is not allowed: browsers send the page's origin except where
 * the page cannot read the answer, as an image for example.
 */
export function isForeignPage(headers: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  const { origin, host, [SITE]: site = 'none' } = headers;
  if (allowed.includes('*')) return false;
  if (origin === undefined) return site === 'cross-site' || site === 'same-site';
  if (allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** The error for such a request. */
export function foreignPage({ origin = 'unknown' }: IncomingHttpHeaders): CellportError {
  const shown = JSON.stringify(origin.slice(0, 80));
  return new CellportError(
    'FORBIDDEN',
    `pages of origin ${shown} may not change data or subscribe; to allow them, add the origin to CELLPORT_ALLOWED_ORIGINS`,
  );
}
