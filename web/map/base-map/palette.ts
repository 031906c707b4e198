/** Theme of the page. */
export type Theme = 'light' | 'dark';

/** Colors of the base map in one theme. */
export interface Palette {
  readonly water: string;
  readonly land: string;
  readonly coast: string;
  readonly river: string;
  readonly border: string;
  /** Borders of states and provinces. */
  readonly region: string;
  readonly grid: string;
  readonly label: string;
  /** Names of cities and towns. */
  readonly place: string;
  readonly halo: string;
}

export const PALETTES: Readonly<Record<Theme, Palette>> = {
  light: {
    water: '#d5e1e8',
    land: '#f7f6f2',
    coast: '#b9c9d3',
    river: '#c3d3dd',
    border: '#c9c3b4',
    region: '#dcd8cc',
    grid: '#a9b4ba',
    label: '#6d716f',
    place: '#7c7f7d',
    halo: '#f7f6f2',
  },
  dark: {
    water: '#0e1318',
    land: '#1b2229',
    coast: '#2c3843',
    river: '#25323d',
    border: '#414f5c',
    region: '#2d3842',
    grid: '#3b4854',
    label: '#929eab',
    place: '#7d8995',
    halo: '#161c22',
  },
};

/** Accent colors of the collections. */
const ACCENTS: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#0b6e99', '#b4461d', '#6a4cb3', '#2c7a4b', '#b02a6b', '#806400'],
  dark: ['#56b6e0', '#f0916a', '#ab93f2', '#68c690', '#ee80b2', '#d6b84a'],
};

/** Number of accent colors. */
export const ACCENT_COUNT = ACCENTS.light.length;

/** The accent color with an index. */
export function accentOf(index: number, theme: Theme): string {
  const accents = ACCENTS[theme];
  return accents[index % accents.length] ?? '#0b6e99';
}
