import type { Theme } from '../base-map/palette.js';

const STORAGE_KEY = 'cellport-theme';

/** The theme chosen by the user; undefined to follow the system. */
function chosen(): Theme | undefined {
  try {
    const kept = localStorage.getItem(STORAGE_KEY);
    return kept === 'light' || kept === 'dark' ? kept : undefined;
  } catch {
    // Storage may be disabled; the choice then lasts as long as the page.
    return undefined;
  }
}

export interface ThemeSwitch {
  readonly theme: Theme;
  /** Switches to the other theme and remembers the choice. */
  toggle(): void;
}

/** Follows the system's theme until the user chooses one. Calls `onChange` at once and after each change. */
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
        localStorage.setItem(STORAGE_KEY, next);
      } catch {
        // See above.
      }
      apply(next);
    },
  };
}
