import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

type Scheme = 'light' | 'dark';

interface Options {
  /** By default both, the page's own first, because a map takes long to redraw in the other. */
  readonly schemes?: readonly Scheme[];
  /** Rules of axe-core that are not checked. */
  readonly exempt?: readonly string[];
}

/** Faults that axe-core finds in the current page, one line per element, in light and dark. */
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
