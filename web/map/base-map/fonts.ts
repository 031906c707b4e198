import type { StyleSpecification } from 'maplibre-gl';

/** The two weights of Noto Sans used on the map; other scripts are drawn in a system font. */
export const REGULAR = 'Noto Sans';
export const STRONG = 'Noto Sans SemiBold';

const FILES = import.meta.glob<string>(
  '/../../node_modules/@fontsource/noto-sans/files/noto-sans-{latin,latin-ext,cyrillic,cyrillic-ext,greek,vietnamese,devanagari}-{400,600}-normal.woff2',
  { query: '?url', import: 'default', eager: true },
);

/** Unicode ranges of the files, from the package's style sheets. The first that contains a character draws it. */
const RANGES: Readonly<Record<string, readonly string[]>> = {
  latin: ['U+0000-00FF', 'U+0131', 'U+0152-0153', 'U+02BB-02BC', 'U+02C6', 'U+02DA', 'U+02DC', 'U+2000-206F', 'U+20AC'],
  'latin-ext': [
    'U+0100-02BA',
    'U+02BD-02C5',
    'U+02C7-02CC',
    'U+02CE-02D7',
    'U+1D00-1DBF',
    'U+1E00-1E9F',
    'U+1EF2-1EFF',
  ],
  vietnamese: ['U+1EA0-1EF1', 'U+20AB'],
  cyrillic: ['U+0400-045F', 'U+0490-0491', 'U+04B0-04B1', 'U+2116'],
  'cyrillic-ext': ['U+0460-052F', 'U+1C80-1C8A'],
  greek: ['U+0370-03FF'],
  devanagari: ['U+0900-097F'],
};

function filesOf(weight: 400 | 600) {
  return Object.entries(RANGES).map(([name, ranges]) => {
    const file = Object.entries(FILES).find(([path]) => path.endsWith(`/noto-sans-${name}-${weight}-normal.woff2`));
    if (file === undefined) throw new Error(`the font file ${name} ${weight} is missing`);
    return { url: new URL(file[1], location.href).href, 'unicode-range': [...ranges] };
  });
}

/** For the style's `font-faces`: files from this server only, loaded when one of their characters is first drawn. */
export function fontFaces(): NonNullable<StyleSpecification['font-faces']> {
  return { [REGULAR]: filesOf(400), [STRONG]: filesOf(600) };
}

/**
 * Offers the same fonts to the text around the map. The package's style sheets for single scripts do not say which
 * characters a file has, so that browsers would load 60 kB for text that needs none of them.
 */
export function addFonts(): void {
  for (const weight of [400, 600] as const) {
    for (const { url, 'unicode-range': ranges } of filesOf(weight)) {
      const face = { weight: String(weight), unicodeRange: ranges.join(', '), display: 'swap' } as const;
      document.fonts.add(new FontFace(REGULAR, `url(${JSON.stringify(url)})`, face));
    }
  }
}
