/** Theme of the page. */
export type Theme = 'light' | 'dark';

/** Colours of the base map in one theme. */
export interface Palette {
  readonly water: string;
  readonly land: string;
  readonly coast: string;
  readonly border: string;
  readonly grid: string;
  readonly label: string;
  readonly halo: string;
}

export const PALETTES: Readonly<Record<Theme, Palette>> = {
  light: {
    water: '#d5e1e8',
    land: '#f7f6f2',
    coast: '#b9c9d3',
    border: '#d3cfc4',
    grid: '#a9b4ba',
    label: '#7c7f7d',
    halo: '#f7f6f2',
  },
  dark: {
    water: '#0e1318',
    land: '#1b2229',
    coast: '#2c3843',
    border: '#36424d',
    grid: '#3b4854',
    label: '#8793a0',
    halo: '#161c22',
  },
};

/** Accent colours of the collections. */
const ACCENTS: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#0b6e99', '#b4461d', '#6a4cb3', '#2c7a4b', '#b02a6b', '#806400'],
  dark: ['#56b6e0', '#f0916a', '#ab93f2', '#68c690', '#ee80b2', '#d6b84a'],
};

/** How many accent colours there are. */
export const ACCENT_COUNT = ACCENTS.light.length;

/** The accent colour with an index. */
export function accentOf(index: number, theme: Theme): string {
  const accents = ACCENTS[theme];
  return accents[index % accents.length] ?? '#0b6e99';
}
