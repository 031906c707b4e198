import { statSync } from 'node:fs';

/** How to create files that hold data, for this user alone. */
export const PRIVATE_FILE = { mode: 0o600 } as const;
/** How to create folders that hold data, with their missing parents. */
export const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;

/**
 * A sentence if other users of this machine may enter a folder; undefined if not, or if it does not exist. Its mode is
 * left as it is: whoever made the folder may have wanted that.
 */
export function openToOthers(folder: string): string | undefined {
  const mode = (statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  if ((mode & 0o077) === 0 || process.platform === 'win32') return undefined;
  return (
    `other users of this machine may reach the data in ${folder}, whose mode is ${mode.toString(8)}; ` +
    `unless they should, run: chmod -R go= '${folder}'`
  );
}
