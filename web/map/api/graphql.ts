import { send, ViewportError } from '../../../src/client/request.js';
import { credentialHeaders } from '../../access/credential.js';
import { pathOf } from '../../access/server.js';

/** The page's server, and who is signed in: the page is loaded again when that changes. */
export const SERVER = { url: pathOf('graphql'), headers: credentialHeaders() } as const;

/** The server answers or refuses within seconds: after this time, the connection must be dead. */
const DEAD_MS = 60_000;

/**
 * The data of an operation. Rejects with a ViewportError if any part of it fails, and with an AbortError if aborted.
 */
export async function request<T>(query: string, variables: object = {}, signal?: AbortSignal): Promise<T> {
  const deadline = AbortSignal.timeout(DEAD_MS);
  const answer = send(SERVER, query, variables, signal ?? deadline);
  const { data, error } = await answer.catch((failure: unknown) => {
    throw deadline.aborted ? new ViewportError(`${SERVER.url} does not respond`, 'UNAVAILABLE') : failure;
  });
  if (error) throw error;
  return data as T;
}
