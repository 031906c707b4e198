import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

type Scheme = 'light' | 'dark';

interface Options {
  /** By default both, that of the page first, as a map takes long to be drawn in another. */
  readonly schemes?: readonly Scheme[];
  /** Rules of axe-core that are not checked. */
  readonly exempt?: readonly string[];
}

/** Faults that axe-core finds in what a page shows now, one line per element, in light and in dark. */
export async function accessibilityFaults(page: Page, { schemes, exempt = [] }: Options = {}): Promise<string[]> {
  const isDark = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`);
  const both: readonly Scheme[] = isDark ? ['dark', 'light'] : ['light', 'dark'];
  const rules = Object.fromEntries(exempt.map((rule) => [rule, { enabled: false }]));
  const faults: string[] = [];
  for (const colorScheme of schemes ?? both) {
    await page.emulateMedia({ colorScheme });
    // Colours that fade would be measured halfway.
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined)))');
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>(
      `axe.run({ resultTypes: ['violations'], rules: ${JSON.stringify(rules)} })`,
    );
    for (const { id, nodes } of violations) {
      for (const { target, any, all, none } of nodes) {
        faults.push(`${colorScheme} ${id}: ${target.join(' ')}: ${[...any, ...all, ...none][0]?.message}`);
      }
    }
  }
  return faults;
}
