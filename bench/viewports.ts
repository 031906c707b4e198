/**
 * What ten viewports of 1280x800 cost on the demo's cities, from the world to a street: Query calls and read units as
 * the server reports them, first with nothing cached of the place, then again. Prints a Markdown table.
 *
 *     npm start        and, beside it:   npx tsx bench/viewports.ts [http://127.0.0.1:4000]
 */
const server = process.argv[2] ?? 'http://127.0.0.1:4000';

const PLACES: readonly (readonly [name: string, lng: number, lat: number, zoom: number])[] = [
  ['the world', 0, 20, 2],
  ['Europe', 10, 50, 4],
  ['Fiji and the antimeridian', 179, -17, 5],
  ['the Sahara', 10, 23, 6],
  ['Japan', 138, 36, 6],
  ['São Paulo', -46.6, -23.5, 8],
  ['London', -0.1, 51.5, 9],
  ['Svalbard', 15.6, 78.2, 10],
  ['Poznań', 16.9, 52.4, 12],
  ['Manhattan', -73.98, 40.75, 16],
];

/** The rectangle of a map of 1280x800 pixels: Web Mercator, the world 512 px wide at zoom 0. */
function boundsOf(lng: number, lat: number, zoom: number) {
  const world = 512 * 2 ** zoom;
  const y = Math.asinh(Math.tan((lat * Math.PI) / 180));
  const latAt = (pixels: number) => (Math.atan(Math.sinh(y + (pixels * 2 * Math.PI) / world)) * 180) / Math.PI;
  const half = (640 * 360) / world;
  return { west: lng - half, south: latAt(-400), east: lng + half, north: latAt(400) };
}

interface Answer {
  readonly data?: { readonly viewport: { readonly auto: { readonly mode: string; readonly total: number } | null } };
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions: { readonly cost: { readonly queries: number; readonly readUnits: number } };
}

async function ask(field: string, lng: number, lat: number, zoom: number): Promise<Answer> {
  const query = `query ($bounds: BoundsInput!, $zoom: Float!) { viewport(bounds: $bounds, zoom: $zoom) { ${field} } }`;
  const response = await fetch(`${server}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-cellport-cost': '1' },
    body: JSON.stringify({ query, variables: { bounds: boundsOf(lng, lat, zoom), zoom } }),
  });
  const answer = (await response.json()) as Answer;
  if (answer.errors) throw new Error(`${field} at ${lng}, ${lat}, zoom ${zoom}: ${answer.errors[0]?.message}`);
  return answer;
}

const FIELDS = {
  auto: 'auto(collection: "cities") { mode total markers { id position { lng lat } name } clusters { count } }',
  cells: 'cells(collection: "cities") { geohash count }',
  markers: 'markers(collection: "cities") { nodes { id position { lng lat } name } pageInfo { hasNextPage } }',
};

console.log('| viewport | zoom | inside | `auto` cold | `auto` warm | `cells` warm | `markers`, first 1,000, warm |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const [name, lng, lat, zoom] of PLACES) {
  const cold = await ask(FIELDS.auto, lng, lat, zoom);
  const answers = [cold];
  for (const field of [FIELDS.auto, FIELDS.cells, FIELDS.markers]) {
    await ask(field, lng, lat, zoom);
    answers.push(await ask(field, lng, lat, zoom));
  }
  const costs = answers.map(({ extensions: { cost } }) => `${cost.queries} Query, ${cost.readUnits} RU`);
  const auto = cold.data?.viewport.auto;
  const inside = `${auto?.total.toLocaleString('en')} (${auto?.mode.toLowerCase()})`;
  console.log(`| ${name} | ${zoom} | ${inside} | ${costs.join(' | ')} |`);
}
