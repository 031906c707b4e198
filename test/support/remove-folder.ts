import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Removes a folder to which processes that have just been killed may still write. Node's own `maxRetries` only tries to
 * remove the emptied folder again: a file made meanwhile would stay in it.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let triesLeft = 50; ; triesLeft -= 1) {
    try {
      await rm(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (triesLeft === 0) throw error;
      await sleep(200);
    }
  }
}
