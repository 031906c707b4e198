/** Names that world-atlas abbreviates in other ways than those below, or that have changed since. */
const NAMES: Readonly<Record<string, string>> = {
  Macedonia: 'North Macedonia',
  eSwatini: 'Eswatini',
  'Antigua and Barb.': 'Antigua and Barbuda',
  'Bosnia and Herz.': 'Bosnia and Herzegovina',
  'Dem. Rep. Congo': 'Democratic Republic of the Congo',
  'Faeroe Is.': 'Faroe Islands',
  'Fr. S. Antarctic Lands': 'French Southern and Antarctic Lands',
  'S. Geo. and the Is.': 'South Georgia and the South Sandwich Islands',
  'St. Vin. and Gren.': 'Saint Vincent and the Grenadines',
};

const WORDS: Readonly<Record<string, string>> = {
  'Br.': 'British',
  'Eq.': 'Equatorial',
  'Fr.': 'French',
  'I.': 'Island',
  'Is.': 'Islands',
  'N.': 'Northern',
  'Rep.': 'Republic',
  'S.': 'South',
  'St.': 'Saint',
  'Ter.': 'Territory',
  'W.': 'Western',
};

/** The full English name of a country, from its name in world-atlas. */
export function countryName(name: string): string {
  return (
    NAMES[name] ??
    name
      .split(' ')
      .map((word) => WORDS[word] ?? word)
      .join(' ')
  );
}
