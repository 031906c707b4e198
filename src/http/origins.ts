import type { IncomingHttpHeaders } from 'node:http';

import { CellportError } from '../errors.js';

/** Whether a request comes from a page of another site that is not allowed: browsers always send the page's origin. */
export function isForeignPage({ origin, host }: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** The error for such a request. */
export function foreignPage({ origin = '' }: IncomingHttpHeaders): CellportError {
  const shown = JSON.stringify(origin.slice(0, 80));
  return new CellportError(
    'FORBIDDEN',
    `pages of origin ${shown} may not change data or subscribe; to allow them, add the origin to CELLPORT_ALLOWED_ORIGINS`,
  );
}
