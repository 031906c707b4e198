import type { FastifyInstance } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';

import { credentialIn } from '../access/credential.js';
import { systemClock } from '../clock.js';
import type { CellportError } from '../errors.js';
import { formatted, statusOfCode } from '../graphql/error-format.js';
import type { OperationResult } from '../graphql/execution/pipeline.js';
import { ChangedTiles, type ChangedPositions } from '../map/tiles/changed-tiles.js';
import { readParameters, type Parameters } from '../map/tiles/request.js';
import type { Admit } from './admit.js';
import { sendEvents } from './event-stream.js';
import { foreignPage, isForeignPage } from './origins.js';
import type { SubscriptionsOptions } from './socket-protocol.js';

/** Tiles do not show changes before these are counted: they are told so much later, together. */
const TOLD_AFTER_MS = 2_500;

const POINT = '{ lng lat }';
const CHANGE = `{ previous ${POINT} marker { position ${POINT} } }`;
const WATCH = `subscription TileChanges($collection: String!) { markerChanged(collection: $collection) ${CHANGE} }`;

type TileEvent = { readonly tiles: ChangedTiles } | { readonly errors: readonly GraphQLFormattedError[] };

/** Errors without their places in the subscription, which the client has not sent. */
const plain = (errors: readonly GraphQLFormattedError[]) =>
  errors.map(({ message, extensions = {} }) => ({ message, extensions }));

/** The tiles of changes, some at a time. */
async function* batches(answers: AsyncIterator<OperationResult>): AsyncGenerator<TileEvent> {
  for (let pending = answers.next(); ;) {
    let next: IteratorResult<OperationResult> | undefined = await pending;
    const tiles = new ChangedTiles();
    const told = systemClock.sleep(TOLD_AFTER_MS).then(() => undefined);
    while (next !== undefined && next.done !== true) {
      const { data, errors } = next.value;
      if (errors) return yield { errors: plain(errors) };
      tiles.add(data?.['markerChanged'] as ChangedPositions);
      pending = answers.next();
      next = await Promise.race([pending, told]);
    }
    if (next?.done === true) return;
    yield { tiles };
  }
}

/**
 * Serves `/tiles/{collection}/changes`: server-sent events with the tiles whose markers have changed. They are those of a
 * subscription, under its rules and limits.
 */
export function addTileChanges(
  server: FastifyInstance,
  { graphql, allowedOrigins, log }: SubscriptionsOptions,
  admit: Admit,
): void {
  server.get('/tiles/:collection/changes', { exposeHeadRoute: false }, async (request, reply) => {
    const { headers } = request;
    if (isForeignPage(headers, allowedOrigins)) throw foreignPage(headers);
    readParameters(request.query as Parameters, []);
    const { collection } = request.params as { readonly collection: string };
    const credential = credentialIn(headers);
    const access = await graphql.accessOf(credential);
    const started = await admit(request, reply, ({ gone, waitedMs, address }) =>
      graphql.subscribe({ query: WATCH, variables: { collection } }, { gone, waitedMs, address, access, isOwn: true }),
    );
    if (started === undefined) return reply;
    if ('errors' in started) {
      const status = statusOfCode(started.errors[0]?.extensions?.['code']);
      return reply
        .code(status)
        .header('cache-control', 'no-store')
        .send({ errors: plain(started.errors) });
    }
    const events = {
      events: batches(started.answers),
      textOf: async (event: TileEvent) =>
        'tiles' in event
          ? `event: changed\ndata: ${JSON.stringify(event.tiles)}\n\n`
          : `event: error\ndata: ${JSON.stringify(event)}\n\n`,
      endOf: (reason: CellportError): TileEvent => ({ errors: [formatted(reason)] }),
      last: '',
      stop: () => void started.answers.return?.(undefined),
    };
    void sendEvents(reply, events, (end) => graphql.hold(credential, access, end), log);
  });
}
