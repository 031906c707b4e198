import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

import { rounds } from '../support/rounds.js';

type Scheme = 'light' | 'dark';

interface Options {
  /** By default both, the page's own first, because a map takes long to redraw in the other; or one of them at random. */
  readonly schemes?: readonly Scheme[];
  /** Rules of axe-core that some elements need not keep, with their selectors. */
  readonly exempt?: Readonly<Record<string, string>>;
}

/** Faults that axe-core finds in the current page, one line per element, in light and dark. */
export async function accessibilityFaults(page: Page, { schemes, exempt = {} }: Options = {}): Promise<string[]> {
  const isDark = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`);
  const both: readonly Scheme[] = isDark ? ['dark', 'light'] : ['light', 'dark'];
  const count = rounds('colorSchemes');
  const chosen = count === 1 && Math.random() < 0.5 ? both.slice(1) : both.slice(0, count);
  const faults: string[] = [];
  for (const colorScheme of schemes ?? chosen) {
    await page.emulateMedia({ colorScheme });
    // Colors that fade would be measured halfway. What never ends is not one of them.
    await page.evaluate(`Promise.all(
      document.getAnimations()
        .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
        .map(({ finished }) => finished.catch(() => undefined)),
    )`);
    await page.evaluate(axe.source);
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    );
    for (const { id, nodes } of violations) {
      for (const { target, any, all, none } of nodes) {
        const [selector, exempted] = [JSON.stringify(target[0]), JSON.stringify(exempt[id] ?? ':not(*)')];
        if (await page.evaluate<boolean>(`document.querySelector(${selector}).matches(${exempted})`)) continue;
        faults.push(`${colorScheme} ${id}: ${target.join(' ')}: ${[...any, ...all, ...none][0]?.message}`);
      }
    }
  }
  return faults;
}
