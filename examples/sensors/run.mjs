// Sends the documents of this folder to Cellport: a sensor register from its first sensor to the latest readings.
//
//   npm run example:sensors                             starts its own server and stops it at the end
//   npm run example:sensors -- http://127.0.0.1:4000    uses a running server

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { readingsOf, SENSORS } from './sensors.mjs';
import { withServer } from './server.mjs';

/** The limit is 500, but the embedded engine waits for the disk at each, and a request has ten seconds. */
const SENSORS_A_CALL = 30;
const COUNTS_WITHIN_MS = 60_000;
const FLOOR = { city: 'Poznań', building: 'Bałtyk', floor: '1' };

/** Sends a GraphQL document; gives its data, its errors and the cost that DynamoDB reported. */
async function post(url, query, variables) {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-cellport-cost': '1' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors = [], extensions } = await response.json();
  return { data, errors, cost: extensions?.cost ?? {} };
}

/** Sends a document of this folder. Throws its first error, unless its code is `allowed`. */
async function send(url, file, variables = {}, allowed) {
  const answer = await post(url, await readFile(new URL(file, import.meta.url), 'utf8'), variables);
  const error = answer.errors.find(({ extensions }) => extensions?.code !== allowed);
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  return answer;
}

const sumOf = (costs) => {
  const sum = {};
  for (const cost of costs) {
    for (const [name, value] of Object.entries(cost)) sum[name] = (sum[name] ?? 0) + value;
  }
  return sum;
};

function costText({ queries = 0, getItems = 0, writes = 0, readUnits = 0, writeUnits = 0 }) {
  const parts = [
    [queries, 'Query calls'],
    [getItems, 'items by key'],
    [readUnits, 'read units'],
    [writes, 'items written'],
    [writeUnits, 'write units'],
  ];
  return parts.flatMap(([value, what]) => (value === 0 ? [] : [`${value} ${what}`])).join(', ');
}

function say(what, answer, cost) {
  console.log(`\n${what}\n  ${answer}\n  cost: ${costText(cost)}`);
}

/** All markers of a list, read page by page. */
async function all(url, file, variables) {
  const costs = [];
  const nodes = [];
  let after = null;
  let places = [];
  do {
    const { data, cost } = await send(url, file, { ...variables, after });
    const { markersIn } = data.collection;
    places = data.collection.places ?? [];
    nodes.push(...markersIn.nodes);
    costs.push(cost);
    after = markersIn.pageInfo.hasNextPage ? markersIn.pageInfo.endCursor : null;
  } while (after !== null);
  return { nodes, places, cost: sumOf(costs), pages: costs.length };
}

/** Creates the collection, unless a former run has. Throws if somebody else has: it gets no sensors and no readings. */
async function create(url) {
  const made = await send(url, '1-collection.graphql', {}, 'CONFLICT');
  const { data } = await post(url, '{ collection(key: "demo-sensors") { description } }', {});
  const document = await readFile(new URL('1-collection.graphql', import.meta.url), 'utf8');
  if (!document.includes(JSON.stringify(data?.collection?.description ?? null)))
    throw new Error('the collection "demo-sensors" is not that of the example: give the URL of a server without it');
  return made;
}

async function register(url) {
  const made = await create(url);
  const costs = [made.cost];
  let registered = 0;
  for (let at = 0; at < SENSORS.length; at += SENSORS_A_CALL) {
    const { data, cost } = await send(url, '2-register.graphql', { sensors: SENSORS.slice(at, at + SENSORS_A_CALL) });
    const { markers, failures } = data.createMarkers;
    const wrong = failures.find(({ code }) => code !== 'CONFLICT');
    if (wrong !== undefined) throw new Error(`sensor ${at + wrong.index} was not registered: ${wrong.message}`);
    registered += markers.length;
    costs.push(cost);
  }
  const there = registered === SENSORS.length ? '' : `, ${SENSORS.length - registered} were there`;
  say('Register sensors in four buildings', `${registered} registered${there}`, sumOf(costs));
}

async function record(url, sensors) {
  const now = new Date();
  const costs = [];
  let stored = 0;
  for (const sensor of sensors) {
    const readings = readingsOf(sensor, 24, now);
    const { data, cost } = await send(url, '3-record.graphql', {
      sensor: `marker::demo-sensors::${sensor.key}`,
      readings,
    });
    stored += data.recordReadings;
    costs.push(cost);
  }
  say('Record the readings of a day', `${stored} readings of ${sensors.length} sensors`, sumOf(costs));
}

/** Waits for the counts of places, which follow the stream; everything else is up to date at once. */
async function countsFollow(url) {
  const until = performance.now() + COUNTS_WITHIN_MS;
  while (performance.now() < until) {
    const { data } = await post(url, '{ collection(key: "demo-sensors") { count } }', {});
    if (data?.collection?.count >= SENSORS.length) return;
    await sleep(100);
  }
  throw new Error('the counts did not follow: does any server keep the cells?');
}

async function ask(url) {
  for (const city of ['Poznań', 'Berlin']) {
    const { nodes, places, cost, pages } = await all(url, '4-in-a-city.graphql', { city });
    const buildings = places.map(({ name, count }) => `${name} ${count}`).join(', ');
    say(`All sensors in ${city}?`, `${nodes.length} on ${pages} pages (${buildings})`, cost);
  }
  const { city, building, floor } = FLOOR;
  const onFloor = await all(url, '5-on-a-floor.graphql', FLOOR);
  const keys = onFloor.nodes.map(({ key }) => key);
  say(`On floor ${floor} of ${building}, ${city}?`, `${keys.length}: ${keys.join(', ')}`, onFloor.cost);
  const inRoom = await all(url, '6-in-a-room.graphql', { ...FLOOR, room: '102' });
  const names = inRoom.nodes.map(({ name }) => name);
  say('In room 102 there?', `${names.length}: ${names.join(', ')}`, inRoom.cost);

  const { data, cost } = await send(url, '7-one-sensor.graphql', { id: `marker::demo-sensors::${keys[0]}` });
  const { name, place, properties, readings } = data.marker;
  const values = readings.map(({ at, values: { celsius } }) => `${at.slice(11, 16)} ${celsius} ${properties.unit}`);
  say(
    `One sensor with its ${readings.length} latest readings?`,
    `${name}, ${place.join(' / ')}: ${values.join(', ')}`,
    cost,
  );
}

async function run(url) {
  await register(url);
  await record(
    url,
    SENSORS.filter(
      ({ place: [city, building, floor] }) =>
        city === FLOOR.city && building === FLOOR.building && floor === FLOOR.floor,
    ),
  );
  await countsFollow(url);
  await ask(url);
}

const [given] = process.argv.slice(2);
try {
  if (given === undefined) await withServer(run);
  else await run(given);
} catch (error) {
  console.error(error.cause ?? error.message ?? error);
  process.exitCode = 1;
}
