// Cities in memory behind a bare HTTP server: kdbush for markers and counts, supercluster for clusters. The first message
// has the cities; questions come as JSON.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../peer/package.json', import.meta.url));
const { default: KDBush } = await import(require.resolve('kdbush'));
const { default: Supercluster } = await import(require.resolve('supercluster'));

let cities = [];
let index;
let clusters;

function load({ markers, radius }) {
  cities = markers;
  index = new KDBush(cities.length);
  for (const { position } of cities) index.add(position.lng, position.lat);
  index.finish();
  // Its zooms are those of tiles of 512 px, as ours are.
  clusters = new Supercluster({ radius, extent: 512, maxZoom: 18 });
  clusters.load(
    cities.map(({ position }, id) => ({
      type: 'Feature',
      properties: { id },
      geometry: { type: 'Point', coordinates: [position.lng, position.lat] },
    })),
  );
}

const idsInside = (rectangles) =>
  rectangles.flatMap(({ west, south, east, north }) => index.range(west, south, east, north));

const clustersInside = (rectangles, zoom) =>
  rectangles.flatMap(({ west, south, east, north }) =>
    clusters.getClusters([west, south, east, north], Math.floor(zoom)).map(({ geometry, properties }) => ({
      position: { lng: geometry.coordinates[0], lat: geometry.coordinates[1] },
      count: properties.point_count ?? 1,
    })),
  );

const markersOf = (ids, most) => ids.slice(0, most).map((id) => cities[id]);

function answer({ kind, most, rectangles, zoom }) {
  const ids = idsInside(rectangles);
  if (kind === 'count') return { total: ids.length };
  if (kind === 'markers') return { markers: markersOf(ids, most) };
  if (ids.length <= most) return { total: ids.length, markers: markersOf(ids, most) };
  return { total: ids.length, clusters: clustersInside(rectangles, zoom) };
}

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (piece) => (text += piece));
  request.on('end', () => {
    const body = JSON.stringify(answer(JSON.parse(text)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
});

process.once('message', (order) => {
  load(order);
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
process.on('disconnect', () => process.exit());
