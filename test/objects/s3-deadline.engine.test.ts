import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';

import { createS3Store } from '../../src/objects/s3-store.js';

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

/** A store whose server sends this response to any request, and then nothing more. */
async function storeOn(answer: string, giveUpAfterMs: number) {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return createS3Store({
    bucket: 'maps',
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    giveUpAfterMs,
  });
}

const TOO_LATE = { code: 'UNAVAILABLE', message: expect.stringContaining('no answer within 200 ms') };

test('a store that does not respond times out', async () => {
  const store = await storeOn('', 200);
  await expect(store.put('zone', new Uint8Array(10))).rejects.toMatchObject(TOO_LATE);
  await expect(store.get('zone')).rejects.toMatchObject(TOO_LATE);
  await expect(store.remove('zone')).rejects.toMatchObject(TOO_LATE);
  await expect(store.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject(TOO_LATE);
  store.close();
});

test('a store that stops in the middle of an object times out', async () => {
  const store = await storeOn('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf', 200);
  await expect(store.get('zone')).rejects.toMatchObject(TOO_LATE);
  store.close();
});

test('a truncated object is an error', async () => {
  const store = await storeOn('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf', 5000);
  const reading = store.get('zone');
  const cut = setInterval(() => sockets.forEach((socket) => socket.destroy()), 100);
  await expect(reading).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  clearInterval(cut);
  store.close();
});

test('a missing server is reported with its error code', async () => {
  const store = createS3Store({
    bucket: 'maps',
    prefix: '',
    endpoint: 'http://127.0.0.1:1',
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  await expect(store.get('zone')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'the object store is unavailable: ECONNREFUSED',
  });
  store.close();
});
