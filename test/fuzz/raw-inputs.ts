import { mutatedBody } from '../graphql/attacks/mutations.js';
import type { Choice } from './values.js';

/** Fragments of inputs over HTTP and WebSockets and in files. */
const PIECES = ['{', '}', '[', ']', '"', ':', ',', '\\', '\n', '\r\n', '\u0000', '\ufeff', 'é', '😀', '%00', '%', '%zz', '../', '/', '?', '&', '=', ';', '\t', '0', '-1', '1e309', '0x10', 'null', 'true', '""', '{"a":1}', '__proto__', 'constructor', 'x'.repeat(2_000), '['.repeat(6_000), '{"a":'.repeat(6_000)]; // prettier-ignore

/** A text with some random changes. */
export function changed(text: string, { below, some, once }: Choice): string {
  let result = text;
  for (let left = below(5); left > 0; left--) {
    const at = below(result.length + 1);
    const end = Math.min(result.length, at + below(once(3) ? 200 : 4));
    const instead = once(4) ? result.slice(at, end).repeat(2 + below(50)) : once(3) ? '' : some(PIECES);
    result = result.slice(0, at) + instead + result.slice(end);
  }
  return result;
}

export interface HttpInput {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const QUERY = 'query ($key: String!) {collection(key: $key) {markers(first: 2) {nodes {key} pageInfo {endCursor}}}}';
const PATHS = ['/graphql', '/graphql/stream', '/graphiql/', '/map/', '/', '/healthz', '/readyz', '/nowhere'];
const TYPES = ['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-16', 'application/graphql', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a', '*', '', 'a/b;c="', 'APPLICATION/JSON']; // prettier-ignore
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: [
    '*/*',
    'text/html',
    'application/graphql-response+json',
    'multipart/mixed',
    ',;q=',
    'a/b;q=2',
    'text/event-stream',
  ],
  'x-cellport-cost': ['1', '0', 'yes'],
  'x-cellport-explain': ['1', '2'],
  'apollo-require-preflight': ['1', ''],
  origin: ['null', 'http://[', 'https://maps.example.org', 'file://'],
  range: ['bytes=0-', 'bytes=-1', 'bytes=9999999999-1'],
  'if-none-match': ['*', '"', 'W/"a"'],
  'if-modified-since': ['0', 'Sat, 01 Jan 2000 00:00:00 GMT', 'tomorrow'],
  'accept-encoding': ['gzip', 'br;q=x', '*'],
  expect: ['nothing'],
  'x-forwarded-for': ['::1', 'x'],
};

/** Half of a surrogate pair cannot be part of a URL. */
const wellFormed = (text: string) => Buffer.from(text).toString();
const encoded = (text: string) => encodeURIComponent(wellFormed(text));

/** An HTTP request with any method, path, headers and body. */
export function httpInput(choice: Choice, random: () => number): HttpInput {
  const { below, some, once } = choice;
  const method = some(['POST', 'POST', 'POST', 'GET', 'GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
  const search = () => {
    const parts = [`query=${encoded(once(3) ? changed(QUERY, choice) : QUERY)}`];
    if (once(2)) parts.push(`variables=${encoded(changed('{"key":"parks"}', choice))}`);
    if (once(5)) parts.push('operationName=a', `extensions=${encoded(changed('{"persistedQuery":{}}', choice))}`);
    if (once(8)) parts.push(some(parts));
    return `?${parts.join('&')}`;
  };
  const path = `${once(4) ? encodeURI(wellFormed(changed(some(PATHS), choice))).slice(0, 4_000) : some(PATHS)}${once(2) ? search().slice(0, 6_000) : ''}`;
  const headers: Record<string, string> = { 'content-type': once(4) ? some(TYPES) : 'application/json' };
  for (let left = below(4); left > 0; left--) {
    const name = some(Object.keys(HEADERS));
    headers[name] = some(HEADERS[name] ?? ['']);
  }
  const json = JSON.stringify({ query: QUERY, variables: { key: 'parks' }, operationName: null, extensions: {} });
  const body = once(6) ? mutatedBody(random) : changed(json, choice);
  return {
    method,
    path: path.startsWith('/') ? path : `/${path}`,
    headers,
    body: /^(GET|HEAD)$/.test(method) ? undefined : body,
  };
}

const MESSAGES = ['{"type":"connection_init"}', '{"type":"ping","payload":{"a":1}}', '{"type":"pong"}', '{"id":"1","type":"complete"}', '{"id":"1","type":"subscribe","payload":{"query":"subscription {markerChanged(collection: \\"parks\\") {id}}"}}', '{"id":"2","type":"subscribe","payload":{"query":"{__typename}","variables":{},"operationName":"a","extensions":{}}}', '{"id":"3","type":"next","payload":{}}']; // prettier-ignore

/** Messages for one WebSocket, mostly after a valid handshake. */
export function socketInput(choice: Choice): string[] {
  const { below, some, once } = choice;
  const messages = Array.from({ length: 1 + below(6) }, () =>
    once(3) ? some(MESSAGES) : changed(some(MESSAGES), choice),
  );
  return once(6) ? messages : [MESSAGES[0] ?? '', ...messages];
}

const FILES = {
  csv: 'key,lng,lat,name,category,place,at,temp,marker\na,13.4,52.5,"A ""b""",park,"[""x""]",2026-11-21T10:00:00Z,1.5,a\nb,0,0,,,,,,\n',
  ndjson:
    '{"key":"a","position":{"lng":13.4,"lat":52.5},"properties":{"n":1.50,"big":123456789012345678901234567890},"marker":"a","at":"2026-11-21T10:00:00Z","values":{"t":1}}\n{"key":"b","lng":1,"lat":2}\n',
  geojson:
    '{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[13.4,52.5]},"properties":{"n":1}},\n{"type":"Feature","id":2,"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"properties":null}]}\n',
} as const;

export interface FileInput {
  readonly format: keyof typeof FILES;
  readonly bytes: Buffer;
}

/** A file for an import, sometimes with bytes that are not UTF-8. */
export function fileInput(choice: Choice): FileInput {
  const { below, some, once } = choice;
  const format = some(['csv', 'ndjson', 'geojson'] as const);
  const bytes = Buffer.from(
    changed(once(10) ? FILES[some(['csv', 'ndjson', 'geojson'] as const)] : FILES[format], choice),
  );
  for (let left = once(4) ? 1 + below(3) : 0; left > 0 && bytes.length > 0; left--)
    bytes[below(bytes.length)] = below(256);
  return { format, bytes };
}
