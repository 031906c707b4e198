import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

import { clientOptions, GIVE_UP_AFTER_MS, withDeadline, type Connection, type Deadline } from '../connection.js';
import { storeFailed, storeUnavailable } from './failures.js';
import { checkObjectName, isObjectName, type ObjectStore } from './object-store.js';

export interface S3Options extends Connection {
  readonly bucket: string;
  /** Prefix of all object names, without a trailing slash; empty for none. */
  readonly prefix: string;
  /** Milliseconds that a call may take, including retries and the whole body, before it fails with UNAVAILABLE. */
  readonly giveUpAfterMs?: number | undefined;
}

/** An object store in a bucket of S3 or a compatible service; `close` closes its connections. */
export function createS3Store(options: S3Options): ObjectStore & { close(): void } {
  const { bucket, prefix, endpoint, giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
  const start = prefix === '' ? '' : `${prefix}/`;
  const place = `s3://${bucket}/${prefix}`;
  const deadline: Deadline = {
    ms: giveUpAfterMs,
    late: (reason) => storeUnavailable(place, reason),
    failure: (error) => storeFailed(place, error),
  };
  const run = <T>(work: (signal: AbortSignal) => Promise<T>) => withDeadline(deadline, work);
  // Few services other than AWS have a host name for each bucket.
  const client = new S3Client({ ...clientOptions(options), forcePathStyle: endpoint !== undefined });
  const at = (name: string) => ({ Bucket: bucket, Key: start + name });

  return {
    place,
    async put(name, body) {
      checkObjectName(name);
      await run((abortSignal) => client.send(new PutObjectCommand({ ...at(name), Body: body }), { abortSignal }));
    },
    async get(name) {
      if (!isObjectName(name)) return undefined;
      return run(async (abortSignal) => {
        try {
          const { Body } = await client.send(new GetObjectCommand(at(name)), { abortSignal });
          // The body, a Readable in Node, arrives after the command has resolved, so the deadline must cover both.
          return await buffer(addAbortSignal(abortSignal, Body as Readable));
        } catch (error) {
          if ((error as Error).name === 'NoSuchKey') return undefined;
          throw error;
        }
      });
    },
    async remove(name) {
      if (!isObjectName(name)) return;
      await run((abortSignal) => client.send(new DeleteObjectCommand(at(name)), { abortSignal }));
    },
    async *list() {
      let next: string | undefined;
      do {
        const input = { Bucket: bucket, Prefix: start, ...(next === undefined ? {} : { ContinuationToken: next }) };
        const page = await run((abortSignal) => client.send(new ListObjectsV2Command(input), { abortSignal }));
        for (const { Key = '', LastModified } of page.Contents ?? []) {
          const name = Key.slice(start.length);
          if (LastModified !== undefined && isObjectName(name)) yield { name, modifiedAt: LastModified };
        }
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },
    close: () => client.destroy(),
  };
}
