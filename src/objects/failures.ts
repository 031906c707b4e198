import { CellportError } from '../errors.js';

/** UNAVAILABLE for an object store that failed, with the error's code or name, such as `EACCES` or `AccessDenied`. */
export function storeFailed(place: string, cause: unknown): CellportError {
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return storeUnavailable(place, String(code ?? name), cause);
}

/** UNAVAILABLE for an object store, with the reason. */
export function storeUnavailable(place: string, reason: string, cause?: unknown): CellportError {
  return new CellportError('UNAVAILABLE', `object store ${place} is unavailable: ${reason}`, {}, { cause });
}
