import { send } from '../../src/client/request.js';

/**
 * The data of an operation. Rejects with a ViewportError if any part of it fails, and with an AbortError if aborted.
 */
export async function request<T>(query: string, variables: object = {}, signal?: AbortSignal): Promise<T> {
  const { data, error } = await send({ url: '/graphql' }, query, variables, signal);
  if (error) throw error;
  return data as T;
}
