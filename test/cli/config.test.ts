import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config.js';

const config = (env: Record<string, string>, demo = false) => readConfig({ demo }, env);

describe('the configuration', () => {
  it('has a default for every variable', () => {
    expect(config({})).toMatchObject({
      tables: { entities: 'cellport', derived: 'cellport-derived' },
      keyStyle: 'readable',
      database: { kind: 'embedded' },
      objects: { kind: 'folder', folder: resolve('.cellport/objects') },
      http: { host: '127.0.0.1', port: 4000 },
      cacheBytes: 64 * 1024 * 1024,
      introspection: true,
      limits: { maxFirst: 5000, maxAliases: 200, deadlineMs: 10_000, queryCalls: 64 },
    });
  });

  it('reports all invalid settings at once, one per line, with name, value and what is allowed', () => {
    const env = {
      PORT: '99999',
      CELLPORT_LOG: 'loud',
      CELLPORT_CACHE_MB: '1e3',
      CELLPORT_TABLE: '!',
      AWS_ENDPOINT_URL: 'localhost:8000',
      CELLPORT_OBJECTS: 'gs://maps',
      CELLPORT_CDN: 'cloudfront:e1/x',
      CELLPORT_ALLOWED_ORIGINS: 'https://maps.example.org, https://maps.example.org/page',
      CELLPORT_ALLOWED_HOSTS: 'maps.example.org:4000',
      CELLPORT_READ_ONLY: 'yes',
    };
    let message = '';
    try {
      config(env);
    } catch (error) {
      message = (error as Error).message;
      expect(error).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    const lines = message.split('\n');
    expect(lines).toHaveLength(10);
    for (const [name, value] of Object.entries(env)) {
      expect(lines.find((line) => line.startsWith(`${name} must be `))).toContain(JSON.stringify(value));
    }
  });

  it('accepts a comma-separated list of origins', () => {
    const allowed = (list: string) => config({ CELLPORT_ALLOWED_ORIGINS: list }).http.allowedOrigins;
    expect(config({}).http.allowedOrigins).toEqual([]);
    expect(allowed('*')).toEqual(['*']);
    const list = ['https://maps.example.org', 'http://localhost:5173', 'http://[::1]:4000'];
    expect(allowed(list.join(' , '))).toEqual(list);
    for (const wrong of ['maps.example.org', 'https://maps.example.org/', 'https://Maps.example.org', 'null', 'a,,b'])
      expect(() => allowed(wrong)).toThrow('CELLPORT_ALLOWED_ORIGINS');
  });

  it('accepts a comma-separated list of host names, without ports', () => {
    const allowed = (list: string) => config({ CELLPORT_ALLOWED_HOSTS: list }).http.allowedHosts;
    expect(config({}).http.allowedHosts).toEqual([]);
    expect(allowed('*')).toEqual(['*']);
    expect(allowed('Maps.example.org, .lan,10.0.0.1 , [::1]')).toEqual([
      'maps.example.org',
      '.lan',
      '10.0.0.1',
      '[::1]',
    ]);
    for (const wrong of ['https://a.b', 'a.b:80', 'a.b/', 'a,,b', 'x@a.b', '*.a.b', 'a b'])
      expect(() => allowed(wrong)).toThrow('CELLPORT_ALLOWED_HOSTS');
  });

  it('accepts on, off, 1 and 0 for boolean settings', () => {
    const readOnly = (value: string) => config({ CELLPORT_READ_ONLY: value }).readOnly;
    expect(['on', '1', 'off', '0', ''].map(readOnly)).toEqual([true, true, false, false, false]);
    expect(config({ CELLPORT_EXPLAIN: 'off' }).http.explain).toBe(false);
    expect(config({}).http.explain).toBe(true);
  });

  it('opens explanations, introspection and GraphiQL by default only where no other machine reaches the server', () => {
    const open = (env: Record<string, string>) => {
      const { introspection, http } = config(env);
      return [introspection, http.explain, http.graphiql];
    };
    for (const HOST of ['127.0.0.1', 'localhost', '::1']) expect(open({ HOST })).toEqual([true, true, true]);
    for (const HOST of ['0.0.0.0', '::', 'box']) {
      expect(open({ HOST })).toEqual([false, false, false]);
      const on = { CELLPORT_INTROSPECTION: 'on', CELLPORT_EXPLAIN: '1', CELLPORT_GRAPHIQL: 'on' };
      expect(open({ HOST, ...on })).toEqual([true, true, true]);
    }
    expect(open({ CELLPORT_GRAPHIQL: 'off' })).toEqual([true, true, false]);
  });

  it('takes a number of proxies, or their addresses and networks', () => {
    const trusted = (list: string) => config({ CELLPORT_TRUST_PROXY: list }).http.trustedProxies;
    expect([config({}).http.trustedProxies, trusted('off'), trusted('2')]).toEqual([0, 0, 2]);
    expect(trusted('10.0.0.0/8, 192.0.2.1,fd00::/8')).toEqual(['10.0.0.0/8', '192.0.2.1', 'fd00::/8']);
    for (const wrong of ['17', 'on', '10.0.0.0/33', '10.0.0', 'proxy', '1.2.3.4,,5.6.7.8', '-1'])
      expect(() => trusted(wrong)).toThrow('CELLPORT_TRUST_PROXY must be off, a number');
  });

  it('treats empty variables as unset, and warns about unknown settings', () => {
    expect(config({ PORT: '', CELLPORT_KEY_STYLE: ' ', CELLPORT_TABEL: 'x' })).toMatchObject({
      http: { port: 4000 },
      keyStyle: 'readable',
      unknown: ['CELLPORT_TABEL'],
    });
  });

  it('starts the embedded engine unless another database is configured, and never loads the demo into the account of a shell profile', () => {
    expect(config({ AWS_REGION: 'eu-central-1' }).database).toMatchObject({
      kind: 'configured',
      region: 'eu-central-1',
    });
    expect(config({ AWS_PROFILE: 'x' }).database).toMatchObject({ kind: 'configured' });
    for (const env of [{ AWS_REGION: 'eu-central-1' }, { AWS_DEFAULT_REGION: 'x' }, { AWS_PROFILE: 'x' }]) {
      expect(config(env, true).database).toEqual({ kind: 'embedded' });
    }
    expect(config({ AWS_REGION: 'x', CELLPORT_ENGINE: 'aws' }, true).database).toMatchObject({
      kind: 'configured',
      region: 'x',
    });
    expect(config({ AWS_ENDPOINT_URL_DYNAMODB: 'http://a:1', CELLPORT_ENGINE: 'embedded' }).database).toEqual({
      kind: 'embedded',
    });
  });

  it('resolves endpoints as the AWS SDK does: the service-specific one before the common one, for streams too', () => {
    const common = { AWS_ENDPOINT_URL: 'http://all:1' };
    const own = { ...common, AWS_ENDPOINT_URL_DYNAMODB: 'http://db:1' };
    expect(config(common, true).database).toMatchObject({
      endpoint: 'http://all:1',
      streamsEndpoint: 'http://all:1',
      region: 'us-east-1',
    });
    expect(config(own).database).toMatchObject({ endpoint: 'http://db:1', streamsEndpoint: 'http://db:1' });
    expect(config({ ...own, AWS_ENDPOINT_URL_DYNAMODB_STREAMS: 'http://s:1' }).database).toMatchObject({
      streamsEndpoint: 'http://s:1',
    });
  });

  it('stores large geometry in the configured folder or bucket, with no default for an external database', () => {
    const objects = (place: string, env = {}) => config({ ...env, CELLPORT_OBJECTS: place }).objects;
    expect(config({ CELLPORT_DATA_DIR: '/data' }).objects).toEqual({ kind: 'folder', folder: '/data/objects' });
    expect(config({ AWS_REGION: 'eu-central-1' }).objects).toBeUndefined();
    expect(objects('/srv/objects', { AWS_REGION: 'x' })).toEqual({ kind: 'folder', folder: '/srv/objects' });
    expect(objects('objects')).toEqual({ kind: 'folder', folder: resolve('objects') });
    for (const [place, bucket, prefix] of [
      ['s3://maps', 'maps', ''],
      ['s3://maps/', 'maps', ''],
      ['s3://my.maps-1/a/b_c/', 'my.maps-1', 'a/b_c'],
    ] as const) {
      expect(objects(place)).toEqual({ kind: 's3', bucket, prefix, endpoint: undefined, region: undefined });
    }
    const env = { AWS_ENDPOINT_URL: 'http://all:1', AWS_ENDPOINT_URL_S3: 'http://s3:1' };
    expect(objects('s3://maps', env)).toMatchObject({ endpoint: 'http://s3:1', region: 'us-east-1' });
    expect(objects('s3://maps', { ...env, AWS_ENDPOINT_URL_S3: '' })).toMatchObject({ endpoint: 'http://all:1' });
    for (const wrong of ['s3:maps', 's3://', 's3://Maps', 's3://maps//a', 's3://maps/a b', 'file:///srv']) {
      expect(() => objects(wrong)).toThrow(`CELLPORT_OBJECTS must be a folder, or s3://bucket`);
    }
  });
});
