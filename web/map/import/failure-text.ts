import { refusal } from './collection-fields.js';
import { NotGeoJson } from './features.js';
import { NotUtf8 } from './lines.js';
import { WrongFile } from './rows.js';

/** The message for a failure. */
export function messageOf(error: unknown): string {
  if (error instanceof WrongFile || error instanceof NotGeoJson || error instanceof NotUtf8) return error.message;
  return refusal(error);
}
