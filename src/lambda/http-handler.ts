/** Answers requests in an AWS Lambda. */
import { join } from 'node:path';

import type { Config } from '../config.js';
import { limitExceeded } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import { IN_PROCESS, readAddresses } from '../http/addresses.js';
import { statusOfCode } from '../http/errors.js';
import { createLog } from '../log-output.js';
import { checkReach } from '../loopback.js';
import { openAnswering, openBuckets } from '../server/answering.js';
import { openBackend, type Backend } from '../server/backend.js';
import { storedReport } from '../server/consumer.js';
import { consumerOfOthers } from '../server/watch-consumer.js';
import { checkKeyStyle, checkTables } from '../store/table/tables.js';
import { requestOf, resultOf, type HttpEvent, type HttpResult } from './http-event.js';

/** AWS returns six million bytes of JSON, with the body in base64. */
const MOST_BYTES = 4_500_000;

/**
 * Opens a handler for events of API Gateway and function URLs. Between calls, a function is frozen: so nothing goes on in
 * the background, and what a server would follow is read when it is needed. Throws BAD_USER_INPUT for settings that would
 * let anybody change data, and for tables that are not Cellport's.
 */
export async function openHandler(config: Config, open: () => Promise<Backend> = () => openBackend(config)) {
  checkReach(config.http.host, config);
  const log = createLog(config.logLevel);
  const backend = await open();
  const { database } = backend;
  const consumer = consumerOfOthers(database, []);
  const kept = { consumerStatus: consumer.status, storedReport: () => storedReport(database) };
  const answering = openAnswering(config, backend, () => openBuckets(config, backend, log), kept, log);
  // The pages, if they are beside the function's file.
  const [mapDir, staticDir] = ['page', 'graphiql'].map((name) => join(import.meta.dirname, name)) as [string, string];
  const opened = answering.open({ allowedHosts: ['*'], files: { mapDir, staticDir }, followsRules: false });
  const [{ http }] = await Promise.all([
    opened,
    checkTables(database).then(() => checkKeyStyle(database)),
    consumer.look(),
  ]);
  await http.ready();
  const addresses = readAddresses(config.http.trustedProxies);

  return async (event: HttpEvent): Promise<HttpResult> => {
    await consumer.look();
    const { method, url, headers, body, address } = requestOf(event);
    const { 'x-forwarded-host': host } = headers;
    const answer = await http.inject({
      method: method as 'GET',
      url,
      // CloudFront must pass the name of the function on, so it tells by which name it was reached itself.
      headers: { ...headers, ...(host !== undefined && addresses.isProxy(address) && { host }) },
      remoteAddress: `${IN_PROCESS} ${address}`,
      ...(body && { payload: body }),
    });
    const { statusCode, headers: answered, rawPayload } = answer;
    if (rawPayload.length <= MOST_BYTES) return resultOf(statusCode, answered, rawPayload);
    const error = limitExceeded('size of the answer', rawPayload.length, MOST_BYTES, 'ask for less, or accept gzip');
    const text = Buffer.from(JSON.stringify({ errors: [formatted(error)] }));
    return resultOf(statusOfCode(error.code), { 'content-type': 'application/json; charset=utf-8' }, text);
  };
}
