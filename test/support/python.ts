import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Programs that are not ours, from PyPI, in a virtual environment; see CONTRIBUTING.md. */
const PYTHON = process.env['CELLPORT_PYTHON'] ?? 'python3';
const run = promisify(execFile);

/** What a script prints, as JSON. */
export const python = async (script: string, ...values: string[]): Promise<unknown> =>
  JSON.parse((await run(PYTHON, ['-c', script, ...values], { maxBuffer: 2 ** 26 })).stdout);

/** Whether some modules are installed; says loudly that a test is skipped if they are not. */
export async function hasModules(...names: readonly string[]): Promise<boolean> {
  try {
    await run(PYTHON, ['-c', `import ${names.join(', ')}`]);
    return true;
  } catch {
    console.warn(`SKIPPED: ${PYTHON} lacks one of ${names.join(', ')}, so clients that are not ours check nothing`);
    return false;
  }
}
