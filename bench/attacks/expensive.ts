/** A request within all limits that makes a server over the demo cities work as hard as possible. */
export interface Expensive {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** A star with this many corners, every second one close to its center, as GeoJSON. */
function star(corners: number, lng: number, lat: number, squeeze: number) {
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * index) / corners;
    const reach = index % 2 === 0 ? 60 : 60 * squeeze;
    return [lng + reach * Math.cos(angle), lat + (reach / 2) * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const aliases = (count: number, field: (index: number) => string) =>
  numbers(count)
    .map((index) => `a${index}: ${field(index)}`)
    .join(' ');
const viewport = (bounds: string, fields: string) => `viewport(bounds: { ${bounds} }, zoom: 3) { ${fields} }`;
const WORLD = 'west: -180, south: -90, east: 180, north: 90';
const cities = (fields: string) => `collection(key: "cities") { ${fields} }`;
const STARS = numbers(10);

export const EXPENSIVE: readonly Expensive[] = [
  {
    name: 'the cells of the world at precision 4, 60 times',
    query: `{ ${viewport(
      WORLD,
      aliases(60, () => 'cells(collection: "cities", precision: 4) { geohash count }'),
    )} }`,
  },
  {
    name: '60 maps of the world with cells of precision 4',
    query: `{ ${aliases(60, (index) =>
      viewport(
        `west: -180, south: -90, east: 180, north: ${90 - index / 10}`,
        'cells(collection: "cities", precision: 4) { geohash count centroid { lng lat } }',
      ),
    )} }`,
  },
  {
    name: '190 polygon queries with one star of 9,997 corners',
    query: `query ($p: GeoJSON!) { ${cities(aliases(190, () => 'inside(polygon: $p, first: 1) { nodes { id } }'))} }`,
    variables: { p: star(9_997, 10, 20, 0.2) },
  },
  {
    name: '10 different stars of 9,997 corners',
    query: `query (${STARS.map((index) => `$p${index}: GeoJSON!`).join(' ')}) { ${cities(
      aliases(STARS.length, (index) => `inside(polygon: $p${index}, first: 5000) { nodes { id } }`),
    )} }`,
    variables: Object.fromEntries(
      STARS.map((index) => [`p${index}`, star(9_997, 10 + index / 7, 20, 0.05 + index / 100)]),
    ),
  },
  {
    name: '190 filters of 1,000 objects',
    query: `query ($v: [JSON!]) { ${cities(
      aliases(
        190,
        (index) =>
          `markers(first: ${1 + index}, filter: { properties: [{ name: "population", in: $v }] }) { nodes { id } }`,
      ),
    )} }`,
    variables: { v: numbers(1_000).map((index) => ({ a: { b: index } })) },
  },
  {
    name: '150 maps of clusters',
    query: `{ ${aliases(150, (index) =>
      viewport(
        `west: -180, south: -90, east: ${180 - index / 10}, north: 90`,
        'clusters(collection: "cities") { count position { lng lat } }',
      ),
    )} }`,
  },
  {
    name: '190 counts of Europe',
    query: `{ ${aliases(190, (index) =>
      viewport(`west: -10, south: 30, east: ${40 - index / 10}, north: 60`, 'count(collection: "cities")'),
    )} }`,
  },
  {
    name: '100 radius queries of 1,000 markers',
    query: `{ ${cities(
      aliases(
        100,
        (index) =>
          `within(center: { lng: ${10 + index / 100}, lat: 50 }, radius: 300000, first: 1000) { nodes { id } }`,
      ),
    )} }`,
  },
  {
    name: '5,000 markers with all fields',
    query: `{ ${viewport(
      WORLD,
      'markers(collection: "cities", first: 5000) { nodes { id key name category position { lng lat } properties createdAt } }',
    )} }`,
  },
];
