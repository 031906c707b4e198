import { CellportError } from '../errors.js';

/** UNAVAILABLE for an object store that failed, with the error's code or name, such as `EACCES` or `AccessDenied`. */
export function storeFailed(place: string, cause: unknown): CellportError {
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return storeUnavailable(place, String(code ?? name), cause);
}

/** UNAVAILABLE for an object store, with the reason. */
export function storeUnavailable(place: string, reason: string, cause?: unknown): CellportError {
  // Where it is concerns the log, not clients.
  const at = new Error(place, { cause });
  return new CellportError('UNAVAILABLE', `the object store is unavailable: ${reason}`, {}, { cause: at });
}
