import type { IncomingHttpHeaders } from 'node:http';

import { CellportError } from '../errors.js';

/** Whether a request comes from a page of another site that is not allowed: browsers always send the origin of a page. */
export function isForeignPage({ origin, host }: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** The message for such a page. */
export function foreignPage({ origin = '' }: IncomingHttpHeaders): CellportError {
  const shown = JSON.stringify(origin.slice(0, 80));
  return new CellportError(
    'FORBIDDEN',
    `pages of ${shown} may neither change data nor subscribe; to allow it, add the origin to CELLPORT_ALLOWED_ORIGINS`,
  );
}
