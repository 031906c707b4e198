import { expect, test } from 'vitest';

import type { Readiness } from '../../src/http/health.js';
import type { HotKeys } from '../../src/http/metrics.js';
import { statusPage } from '../../src/http/status-page.js';

const EVIL = '<script>alert("1")</script>';
const READINESS: Readiness = {
  ready: false,
  reasons: [`DynamoDB did not answer: ${EVIL}`],
  clock: { aheadMs: 90_000, warning: 'the clock is wrong' },
  stream: {
    owner: false,
    behindMs: null,
    countsExact: false,
    gap: { since: 'May', reason: 'trimmed' },
    deadLetters: 7,
  },
  load: null,
  search: { state: 'failed', read: 1, reason: 'disk full' },
  sources: [
    { collection: 'shops', table: 't1', owner: true, behindMs: 2_500, countsExact: true, failure: 'no stream' },
    { collection: 'trees', table: 't2', owner: false, behindMs: null, countsExact: false, failure: null },
  ],
};
const HOT: HotKeys = {
  readUnits: 1_234.5,
  writeUnits: 0,
  seconds: 30,
  missedAtMost: 0,
  keys: [{ table: 't', index: null, key: EVIL, names: EVIL, bounds: null, readUnits: 9, writeUnits: 0, share: 0.25 }],
};
const METRICS = [
  { name: 'cellport_build_info', values: [{ value: 1, labels: { version: '1.2.3', node: 'v24' } }] },
  { name: 'cellport_workers', values: [{ value: 2, labels: {} }] },
  { name: 'cellport_cache_bytes', values: [{ value: 2 ** 21, labels: { cache: 'pages' } }] },
  { name: 'cellport_cache_hits_total', values: [{ value: 3, labels: { cache: 'pages' } }] },
  { name: 'cellport_cache_misses_total', values: [{ value: 1, labels: { cache: 'pages' } }] },
];

/** The rows of its tables, and its paragraphs. */
function linesOf(page: string): readonly string[] {
  const lines = page.match(/<(tr|p)>.*?<\/\1>/g) ?? [];
  return lines.map((line) => line.replaceAll(/<\/t[dh]>(?!<\/tr>)/g, ' | ').replaceAll(/<[^>]*>/g, ''));
}

test('/status says why a server is not ready, and what else is wrong', () => {
  const page = statusPage(READINESS, HOT, METRICS);
  expect(page).toContain('Cellport 1.2.3 <mark>not ready</mark>');
  expect(linesOf(page)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('DynamoDB did not answer'),
      'the clock is wrong',
      'There is a gap in the stream: trimmed',
      'Workers | 2',
      'Read units a second | 1,235',
      'Search | failed: disk full',
      'Behind | –',
      'Counts are exact | no',
      'Gap since | May',
      'Dead letters | 7',
      'shops | t1 | 2.5 s | yes | no stream',
      'trees | t2 | – | no | –',
      'pages | 2 MB | 4 | 75 %',
    ]),
  );
});

test('/status runs no script, whatever keys are called', () => {
  const page = statusPage(READINESS, HOT, METRICS);
  expect(page).not.toContain('<script');
  expect(page).toContain('&lt;script&gt;');
});

test('/status of a server that has nothing yet has no empty tables', () => {
  const nothing = { ...READINESS, ready: true, reasons: [], stream: null, sources: [], search: null };
  const page = statusPage({ ...nothing, clock: { aheadMs: null, warning: null } }, { ...HOT, keys: [] }, []);
  expect(page.match(/<h2>[^<]*/g)).toEqual(['<h2>Server']);
  expect(page).toContain('<mark>ready</mark>');
  expect(page).not.toContain('<p>');
});
