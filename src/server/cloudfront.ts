import { randomUUID } from 'node:crypto';
import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';

import { clientOptions, GIVE_UP_AFTER_MS, withDeadline, type Connection } from '../connection.js';
import { CellportError } from '../errors.js';

/** A CloudFront distribution, and how to reach its API. */
export interface Cdn extends Pick<Connection, 'endpoint' | 'credentials'> {
  readonly distribution: string;
}

/** Purges what has one of some tags, from the edges of a distribution; `close` closes the connections. */
export function purger({ distribution, ...connection }: Cdn) {
  // Its API is in one region.
  const client = new CloudFrontClient(clientOptions({ region: 'us-east-1', ...connection }));
  const late = (reason: string) => new CellportError('UNAVAILABLE', `CloudFront: ${reason}`);
  return {
    async purge(tags: readonly string[], signal: AbortSignal): Promise<void> {
      const Paths = { Quantity: tags.length, Items: tags.map((tag) => `#${tag}`) };
      const input = { DistributionId: distribution, InvalidationBatch: { Paths, CallerReference: randomUUID() } };
      const send = (abortSignal: AbortSignal) => client.send(new CreateInvalidationCommand(input), { abortSignal });
      await withDeadline({ ms: GIVE_UP_AFTER_MS, late, signal }, send);
    },
    close: () => client.destroy(),
  };
}
