import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { createHttpServer, createServices } from '../../src/server/services.js';
import type { BenchMarker } from '../rig/points.js';
import { startRig } from '../rig/rig.js';

/** A request by GET, or by POST if it has a body. */
export interface Asked {
  readonly url: string;
  readonly body?: string;
  readonly etag?: string;
}

interface Answered {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly rawPayload: Buffer;
}

/** What some requests took. */
export interface Spent {
  readonly requests: number;
  /** Of bodies, compressed with gzip. */
  readonly bytes: number;
  /** CPU time of this process, which answers and reads. */
  readonly cpuMs: number;
  readonly readUnits: number;
  /** Requests to DynamoDB. */
  readonly reads: number;
}

/** The text of an answer. */
export const bytesOf = ({ headers, rawPayload }: Answered): Buffer =>
  headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload;
export const textOf = (answer: Answered): string => bytesOf(answer).toString();

/** A server in this process over a new engine with the collection `cities`, which is asked without a network. */
export async function openTileServer(markers: readonly BenchMarker[]) {
  const rig = await startRig();
  await rig.fill('cities', markers);
  const staticDir = await mkdtemp(join(tmpdir(), 'cellport-bench-'));
  await writeFile(join(staticDir, 'index.html'), '<!doctype html><title>GraphiQL</title>');
  const open = async () => {
    const services = createServices(rig.db, {
      trust: rig.services.trust,
      consumerStatus: () => ({ owner: true, behindMs: 0, countsExact: true }),
    });
    return createHttpServer(services, { files: { staticDir } });
  };
  let server = await open();

  async function ask({ url, body, etag }: Asked) {
    const headers = { host: 'localhost', 'accept-encoding': 'gzip', ...(etag && { 'if-none-match': etag }) };
    const answer = await server.http.inject(
      body === undefined
        ? { method: 'GET', url, headers }
        : { method: 'POST', url, payload: body, headers: { ...headers, 'content-type': 'application/json' } },
    );
    if (answer.statusCode >= 400) throw new Error(`${url} responded with ${answer.statusCode}: ${answer.body}`);
    return answer;
  }

  return {
    ask,
    /** Sends requests one after the other. */
    async spend(all: Iterable<Asked>): Promise<Spent> {
      rig.resetWire();
      let [requests, bytes] = [0, 0];
      const before = process.cpuUsage();
      for (const each of all) {
        bytes += (await ask(each)).rawPayload.length;
        requests += 1;
      }
      const { user, system } = process.cpuUsage(before);
      const { queries, batchGets, gets, readUnits } = rig.wire;
      return { requests, bytes, cpuMs: (user + system) / 1_000, readUnits, reads: queries + batchGets + gets };
    },
    /** Forgets everything, like a server that starts. */
    async restart() {
      await server.close();
      rig.coolDown();
      server = await open();
    },
    async close() {
      await server.close();
      await rm(staticDir, { recursive: true });
      await rig.close();
    },
  };
}

export type TileServer = Awaited<ReturnType<typeof openTileServer>>;
