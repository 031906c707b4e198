import { expect, test } from 'vitest';

import { LAG_MS } from '../../src/loaders/followed-cache.js';
import { FollowedPages } from '../../src/read/from-pages/followed-pages.js';
import { PageCache, pageName } from '../../src/read/from-pages/page-cache.js';
import type { WrittenBatch } from '../../src/store/page/written-pages.js';
import { columnsOf } from '../support/page-services.js';

const GENERATION = '7';
const columns = columnsOf([]);

/** The pages that a server which does not maintain them has cached, and what it learns. */
class Server {
  #now = 0;
  readonly cache: PageCache = new PageCache({
    maxBytes: 1_000_000,
    now: () => this.#now,
    trusted: () => this.followed.areCurrent,
  });
  readonly followed: FollowedPages;

  constructor(scope?: string) {
    this.followed = new FollowedPages(this.cache, scope);
  }

  wait(ms: number): void {
    this.#now += ms;
  }

  learn(complete: number, since: number, batches: readonly WrittenBatch[], to = complete): void {
    const written = { since, to, batches: JSON.stringify(batches) };
    this.followed.take({ pages: { generation: GENERATION }, complete, written });
  }

  read(scope: string, begin: string, round: number): void {
    const page = { begin, end: undefined, round, lost: undefined, entries: [], columns, bytes: 100 };
    this.cache.keep(pageName(scope, GENERATION, begin), page, this.cache.begin(), scope);
  }

  /** The rounds of the pages that are kept. */
  kept(...names: readonly string[]): (number | undefined)[] {
    return names.map((name) => {
      const [scope = '', begin = ''] = name.split(' ');
      return this.cache.find(pageName(scope, GENERATION, begin), scope)?.round;
    });
  }
}

/** A server that has cached three pages as of batch 10. */
function warm(scope?: string): Server {
  const server = new Server(scope);
  server.learn(10, 10, []);
  server.wait(LAG_MS + 1);
  server.read('parks', 'u', 4);
  server.read('parks', 'u3', 20);
  server.read('cafés', 'u', 21);
  return server;
}

test('pages that a batch has written are dropped, and not kept again by a read that lags', () => {
  const server = warm();
  expect(server.kept('parks u', 'parks u3', 'cafés u')).toEqual([4, 20, 21]);
  server.learn(11, 8, [
    [10, { parks: ['u'] }, {}],
    [11, { parks: ['u3'] }, { cafés: ['u'] }],
  ]);
  expect(server.kept('parks u', 'parks u3', 'cafés u')).toEqual([4, undefined, undefined]);
  server.read('parks', 'u3', 20);
  server.read('cafés', 'u', 22);
  expect(server.kept('parks u3', 'cafés u')).toEqual([undefined, undefined]);
  server.read('parks', 'u3', 22);
  server.read('cafés', 'u', 23);
  expect(server.kept('parks u3', 'cafés u')).toEqual([22, 23]);
});

test('a batch that is not complete drops nothing yet', () => {
  const server = warm();
  server.learn(10, 9, [[11, { parks: ['u'] }, {}]]);
  expect(server.kept('parks u')).toEqual([4]);
  server.learn(11, 9, [[11, { parks: ['u'] }, {}]]);
  expect(server.kept('parks u')).toEqual([undefined]);
});

test('where pages are too many to name, those of their scope are dropped, and read again', () => {
  const server = warm();
  server.learn(11, 10, [[11, { parks: null }, {}]]);
  server.read('parks', 'u', 4);
  server.read('cafés', 'u9', 8);
  expect(server.kept('parks u', 'parks u3', 'cafés u', 'cafés u9')).toEqual([undefined, undefined, 21, 8]);
  server.wait(LAG_MS + 1);
  server.read('parks', 'u', 22);
  expect(server.kept('parks u')).toEqual([22]);
});

test('a list that does not reach back to the last report drops all pages, or those of the source', () => {
  const [all, ofSource] = [warm(), warm('parks')];
  for (const server of [all, ofSource]) server.learn(12, 11, [[12, {}, {}]]);
  expect(all.kept('parks u', 'cafés u')).toEqual([undefined, undefined]);
  expect(ofSource.kept('parks u', 'parks u3', 'cafés u')).toEqual([undefined, undefined, 21]);
});

test('the list of a former owner, whose successor knows no such list, is not believed', () => {
  const server = warm();
  server.learn(12, 10, [], 11);
  expect(server.followed.areCurrent).toBe(false);
  expect(server.kept('parks u')).toEqual([undefined]);
  server.learn(13, 10, []);
  server.wait(LAG_MS + 1);
  expect(server.kept('parks u')).toEqual([undefined]);
});
