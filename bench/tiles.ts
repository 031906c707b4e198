import { areaAround, isInMercator, nameOf, tileAt, unitAt } from '../src/geo/tiles.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';
import { openTileServer, type Asked, type Spent, type TileServer } from './tiles/server.js';
import { byClient, byMaps, byTiles, walksOf } from './tiles/walks.js';
import { sumOfZoom } from './tiles/zooms.js';

const ROUNDS = 9;
const ANSWERS = 100;
const MILLION = 1e6;
/** In Bavaria and Austria; 302 cities. */
const TILE = { z: 8, x: 137, y: 88 };

/** Prices in USD of us-east-1, November 2026, without free tiers. */
const PRICES = {
  readUnits: 0.125 / MILLION,
  lambdaRequest: 0.2 / MILLION,
  /** A second with 1,769 MB, which have one core. */
  lambdaSecond: 1.769 * 0.0000166667,
  cdnRequest: 1 / MILLION,
  cdnByte: 0.085 / 1e9,
};

/** CPU time of an answer, in ms, of several requests in turns: medians of rounds. */
async function cpuOf(server: TileServer, requests: readonly Asked[]): Promise<number[]> {
  const times = requests.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, request] of requests.entries()) {
      const { cpuMs } = await server.spend(Array.from({ length: ANSWERS }, () => request));
      // The first ones warm up.
      if (round >= ROUNDS / 3) times[index]?.push(cpuMs / ANSWERS);
    }
  }
  return times.map((all) => quantile(all, 0.5));
}

/** A tile with about 300 markers, and the same as GraphQL's features. */
async function tileRows(server: TileServer, markers: readonly BenchMarker[]): Promise<Row[]> {
  const inside = markers.filter(({ position }) => nameOf(tileAt(unitAt(position, TILE.z), TILE.z)) === nameOf(TILE));
  const { bounds } = areaAround(TILE, 0);
  const tile = { url: `/tiles/cities/${TILE.z}/${nameOf(TILE)}?limit=5000` };
  const query =
    'query ($bounds: BoundsInput!) { viewport(bounds: $bounds, zoom: 8) { features(collection: "cities", limit: 5000) } }';
  const features = { url: '/graphql', body: JSON.stringify({ query, variables: { bounds } }) };
  const first = await server.ask(tile);
  const known = { ...tile, etag: String(first.headers['etag']) };
  const text = (await server.ask({ ...features })).rawPayload;
  const [ofTile = 0, ofFeatures = 0, of304 = 0] = await cpuOf(server, [tile, features, known]);
  const { reads } = await server.spend([known]);
  const share = first.rawPayload.length / text.length;
  return [
    {
      what: `a tile of ${inside.length} markers from memory, answers a second of one core`,
      bar: 'at least 3 times',
      measured: `${shown(1_000 / ofTile, 0)}, ${shown(ofFeatures / ofTile)} times`,
      against: `features of GraphQL ${shown(1_000 / ofFeatures, 0)}`,
      holds: ofFeatures / ofTile >= 3,
    },
    {
      what: 'its bytes, gzipped',
      bar: 'at most 0.5 of GeoJSON',
      measured: `${shown(first.rawPayload.length, 0)}, ${shown(share, 2)}`,
      against: `GeoJSON ${shown(text.length, 0)}`,
      holds: share <= 0.5,
    },
    {
      what: 'a 304: requests to DynamoDB, CPU',
      bar: 'none, under 1 ms',
      measured: `${reads}, ${shown(of304, 2)} ms`,
      against: '',
      holds: reads === 0 && of304 < 1,
    },
  ];
}

/** What the server takes for requests, in USD. */
const serverUsd = ({ requests, cpuMs, readUnits }: Spent) =>
  requests * PRICES.lambdaRequest + (cpuMs / 1_000) * PRICES.lambdaSecond + readUnits * PRICES.readUnits;

const unique = (all: readonly Asked[]): Asked[] => [...new Map(all.map((each) => [each.url, each])).values()];

/** What the users' maps cost in different ways, and the bytes of each. */
async function bills(server: TileServer, markers: readonly BenchMarker[], { quick, say }: BenchOptions) {
  const walks = walksOf(markers, quick ? 1 : 40, 25);
  const views = walks.flat().length;
  const ways: Record<string, Asked[]> = {};
  for (const [name, content] of [
    ['GraphQL', 'auto'],
    ['GraphQL, heatmap', 'cells'],
  ] as const) {
    ways[name] = [];
    for (const walk of walks) ways[name].push(...(await byClient(server, walk, content)));
  }
  ways['one GET (`/maps`)'] = walks.flatMap(byMaps);
  ways['tiles'] = walks.flatMap((walk) => byTiles(walk, 'markers,clusters'));
  ways['tiles, heatmap'] = walks.flatMap((walk) => byTiles(walk, 'cells'));
  const spent: Record<string, Spent> = {};
  const lines: (string | number)[][] = [
    [
      'a million maps',
      'requests, million',
      'GB gzipped',
      'read units, million',
      'Lambda, hours',
      'USD',
      'USD with a CDN',
      'of which it answers',
      'USD if that has all',
    ],
  ];
  for (const [name, all] of Object.entries(ways)) {
    say(`${name}: ${all.length} requests`);
    await server.restart();
    const direct = await server.spend(all);
    spent[name] = direct;
    const { requests, bytes, readUnits, cpuMs } = direct;
    const of = (figure: number, unit: number, digits = 2) => shown(((figure / views) * MILLION) / unit, digits);
    const line = [
      name,
      of(requests, MILLION),
      of(bytes, 1e9, 1),
      of(readUnits, MILLION),
      of(cpuMs, 3_600_000, 1),
      of(serverUsd(direct) + bytes * PRICES.cdnByte, 1),
    ];
    if (all.some(({ body }) => body !== undefined)) {
      lines.push([...line, '', '', '']);
      continue;
    }
    await server.restart();
    const missed = await server.spend(unique(all));
    const edge = requests * PRICES.cdnRequest + bytes * PRICES.cdnByte;
    const hits = `${shown(100 * (1 - missed.requests / requests), 0)}%`;
    lines.push([...line, of(serverUsd(missed) + edge, 1), hits, of(edge, 1)]);
  }
  return { views, spent, lines };
}

async function run(options: BenchOptions): Promise<Section> {
  const { quick, say } = options;
  const markers = cityMarkers().filter((_, index) => !quick || index % 50 === 0);
  say('loading the cities');
  const server = await openTileServer(markers);
  try {
    const within = markers.filter(({ position }) => isInMercator(position)).length;
    const wrong: string[] = [];
    const most = quick ? 5 : 12;
    say('a tile');
    const rows = quick ? [] : await tileRows(server, markers);
    say('walks');
    const { views, spent, lines } = await bills(server, markers, options);
    for (let z = 0; z <= most; z++) {
      const sum = await sumOfZoom(server, markers, z);
      say(`zoom ${z}: ${sum} of ${within}`);
      if (sum !== within) wrong.push(`${z}: ${sum}`);
    }
    const kb = (name: string) => shown((spent[name]?.bytes ?? NaN) / views / 1_000);
    return {
      title: 'Tiles of 135,233 cities',
      rows: [
        {
          what: `sum of all tiles of a zoom, markers and clusters' counts, z0 to z${most}`,
          bar: 'the markers within Web Mercator',
          measured: wrong.length === 0 ? `${within.toLocaleString('en')} at each` : wrong.join(', '),
          against: `${within.toLocaleString('en')} markers`,
          holds: wrong.length === 0,
        },
        ...rows,
        {
          what: 'kB of a map, markers and clusters',
          isDetail: true,
          bar: '',
          measured: kb('tiles'),
          against: `GraphQL ${kb('GraphQL')}`,
        },
        {
          what: 'kB of a map, heatmap',
          isDetail: true,
          bar: '',
          measured: kb('tiles, heatmap'),
          against: `GraphQL ${kb('GraphQL, heatmap')}`,
        },
      ],
      text: [
        'Properties of a tile are in tables, which gzip hardly makes smaller; a tile also has the markers of its buffer.\n',
        `The bill of a million maps, from ${views.toLocaleString('en')} of users who pan, zoom and jump, each with an empty cache, on a server that has just started. Tiles show up to 500 markers each, the others on a screen. The CDN keeps what one of these users has loaded. Prices of us-east-1 without free tiers: a million read units 0.125 USD, Lambda with 1,769 MB for the CPU time, a million requests to CloudFront 1 USD, a GB to browsers 0.085 USD.\n`,
        table(lines),
      ].join('\n'),
    };
  } finally {
    await server.close();
  }
}

/** Tiles against GraphQL's answers: sums, CPU, bytes, and what a million maps cost. */
export const tiles: Benchmark = { name: 'tiles', hasCounts: true, run };
