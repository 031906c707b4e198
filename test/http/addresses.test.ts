import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';

import { readAddresses } from '../../src/http/addresses.js';
import { createClientLimits } from '../../src/http/admit.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { networkOf } from '../../src/model/network.js';

const requestFrom = (remoteAddress: string, forwarded?: string) => ({
  socket: { remoteAddress } as Socket,
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
});

test.each([
  [0, '::ffff:203.0.113.9', '198.51.100.1', '203.0.113.9'],
  [0, '2001:db8::1', undefined, '2001:db8::1'],
  [1, '10.0.0.1', undefined, '10.0.0.1'],
  [1, '10.0.0.1', 'invented, 198.51.100.1', '198.51.100.1'],
  [2, '10.0.0.1', '192.0.2.7,198.51.100.1, 10.0.0.2', '198.51.100.1'],
  [9, '10.0.0.1', '192.0.2.7, unknown, 198.51.100.1', '198.51.100.1'],
  [['10.0.0.0/8', 'fd00::/8'], '::ffff:10.1.2.3', '198.51.100.1, fd00::5', '198.51.100.1'],
  [['10.0.0.0/8'], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  [['10.0.0.0/8'], '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  [['10.0.0.1'], '10.0.0.1', '[2001:db8::1%eth0]:80', '2001:db8::1'],
  [['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
])('behind the proxies %j, a request from %s for %s comes from %s', (trusted, remote, forwarded, client) => {
  expect(readAddresses(trusted).of(requestFrom(remote, forwarded))).toBe(client);
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

/** A connection that is closed by its side of the server with `destroy`. */
function connection(remoteAddress: string) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false });
  return Object.assign(socket, {
    destroy: () => {
      socket.destroyed = true;
      socket.emit('close');
    },
  }) as unknown as Socket & { readonly destroyed: boolean };
}

test('connections of a network beyond the limit are refused, beyond twice the limit closed, and forgotten when they close', () => {
  const limits = createClientLimits(
    readAddresses(['10.0.0.1']),
    { ...DEFAULT_LIMITS, connectionsPerAddress: 2 },
    silentLog,
  );
  const open = (address: string) => {
    const socket = connection(address);
    limits.connected(socket);
    // Node lets some connections come again.
    limits.connected(socket);
    return { socket, use: limits.use({ socket, headers: {} }, socket), closed: socket.destroyed };
  };
  const some = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8::5'].map(open);
  expect(some.map(({ use, closed }) => [use, closed])).toEqual([
    [0.5, false],
    [1, false],
    [1.5, false],
    [2, false],
    [2.5, true],
  ]);
  expect(open('2001:db8:0:1::1').use).toBe(0.5);
  for (const { socket } of some) if (!socket.destroyed) socket.destroy();
  expect(open('2001:db8::9').use).toBe(0.5);
  for (const exempt of ['127.0.0.1', '::1', '10.0.0.1']) {
    expect([1, 2, 3, 4, 5, 6].map(() => open(exempt).use)).toEqual([0, 0, 0, 0, 0, 0]);
  }
});
