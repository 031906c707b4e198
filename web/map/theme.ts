import type { Theme } from './base-map/palette.js';

const KEPT_AS = 'cellport-theme';

/** What the reader chose; nothing where the system decides. */
function chosen(): Theme | undefined {
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return kept === 'light' || kept === 'dark' ? kept : undefined;
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
    return undefined;
  }
}

export interface ThemeSwitch {
  readonly theme: Theme;
  /** To the other theme, for good. */
  toggle(): void;
}

/** Follows the system's light or dark until the reader chooses; tells of each change, and at once of the first. */
export function createTheme(onChange: (theme: Theme) => void): ThemeSwitch {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let theme: Theme = 'light';
  const apply = (next: Theme) => {
    theme = next;
    document.documentElement.dataset['theme'] = theme;
    onChange(theme);
  };
  system.addEventListener('change', () => {
    if (chosen() === undefined) apply(system.matches ? 'dark' : 'light');
  });
  apply(chosen() ?? (system.matches ? 'dark' : 'light'));
  return {
    get theme() {
      return theme;
    },
    toggle() {
      const next = theme === 'dark' ? 'light' : 'dark';
      try {
        localStorage.setItem(KEPT_AS, next);
      } catch {
        // See above.
      }
      apply(next);
    },
  };
}
