import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { type Readable, addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { storeFailed, storeUnavailable } from './failures.js';
import { type ObjectStore, checkObjectName, isObjectName } from './object-store.js';

export interface S3Options {
  readonly bucket: string;
  /** What the names of all objects begin with, without a slash at its end; empty for none. */
  readonly prefix: string;
  /** Endpoint, region and credentials come from the AWS SDK's own variables and chain where they are left out. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** How long a call may take, its retries and the whole body included, before it fails as UNAVAILABLE. */
  readonly giveUpAfterMs?: number | undefined;
}

const GIVE_UP_AFTER_MS = 8_000;
const MAX_ATTEMPTS = 3;
const CONNECT_WITHIN_MS = 2_000;
/** Of one attempt; an object of some megabytes comes and goes within it on a slow line. */
const ATTEMPT_WITHIN_MS = 5_000;

/** What is to be done at a bucket until a deadline; `run` gives what `work` gives, or UNAVAILABLE. */
function deadlines(place: string, afterMs: number) {
  return async function run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(
      () => controller.abort(storeUnavailable(place, `no answer within ${afterMs} ms`)),
      afterMs,
    );
    // The SDK would first sleep out the pause before a retry.
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      return await Promise.race([work(signal), late]);
    } catch (error) {
      throw signal.aborted ? signal.reason : storeFailed(place, error);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Objects of a bucket of S3, or of anything that speaks as S3 does; `close` lets go of the connections. */
export function createS3Store(options: S3Options): ObjectStore & { close(): void } {
  const { bucket, prefix, endpoint, region, credentials, giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
  const start = prefix === '' ? '' : `${prefix}/`;
  const place = `s3://${bucket}/${prefix}`;
  const run = deadlines(place, giveUpAfterMs);
  const client = new S3Client({
    // Others than AWS seldom have a host name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    retryMode: 'standard',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: ATTEMPT_WITHIN_MS,
      throwOnRequestTimeout: true,
    },
  });
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
          // In Node it is one, and it goes on after the command, so the deadline has to reach it, too.
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
