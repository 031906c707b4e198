import { beforeEach, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { reasonFor } from '../../src/errors.js';
import { WriteWatch } from '../../src/stream/consume/write-watch.js';
import { interceptCalls } from '../support/faults.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';
import { testServer } from './live-server.js';

const SECRET = 'User: arn:aws:iam::1:user/x may not read /srv/maps';
const { tables } = await testDatabase();
const db = newDatabase('readable', { tables });
await testCollection(db, { key: 'parks', name: 'Parks' });
let failure: string | undefined;
for (const operation of ['Query', 'GetItem', 'BatchGetItem', 'PutItem']) {
  interceptCalls(db, operation, (input, ask) =>
    failure === undefined
      ? ask(input)
      : Promise.reject(Object.assign(new Error(SECRET), { name: failure, $fault: 'client', $metadata: {} })),
  );
}
const server = await testServer(db);
beforeEach(() => {
  failure = undefined;
});

test('what DynamoDB says of an account stays in the log: neither an answer nor /readyz has it', async () => {
  failure = 'AccessDeniedException';
  const answers = [
    await server.post(
      JSON.stringify({ query: '{ collections { nodes { key } } marker(id: "marker::parks::a") { key } }' }),
    ),
    await fetch(`${server.url}/readyz`),
  ];
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(texts.join('')).not.toMatch('arn:aws');
  expect(JSON.parse(texts[1] ?? '')).toMatchObject({ ready: false, reasons: [reasonFor(new Error(SECRET))] });
  expect(server.logged.filter(({ fields }) => String(fields['err']).includes(SECRET))).toHaveLength(2);
});

test('what DynamoDB says of a marker that it refuses stays in the log', async () => {
  const create = (key: string) =>
    server.ask(`mutation { createMarkers(collection: "parks", markers: [{ key: "${key}", position: { lng: 1, lat: 1 } }]) {
      failures { code message } markers { key } } }`);
  expect((await create('a')).data.createMarkers.markers).toEqual([{ key: 'a' }]);
  failure = 'ValidationException';
  expect((await create('b')).data.createMarkers.failures).toEqual([
    { code: 'BAD_USER_INPUT', message: expect.stringContaining('exceeds a limit of DynamoDB') },
  ]);
});

test('a failing write is reported without the words of whoever failed', async () => {
  const watch = new WriteWatch({ ...systemClock, now: () => 0 });
  const write = watch.watched('cells', () => Promise.reject(new Error(SECRET)));
  await expect(write()).rejects.toThrow(SECRET);
  expect(watch.failing?.reason).toBe(reasonFor(new Error(SECRET)));
});
