import { send } from '../../src/client/request.js';

/** The data of an operation. Rejects with a ViewportError if any part of it failed. */
export async function request<T>(query: string, variables: object = {}): Promise<T> {
  const { data, error } = await send({ url: '/graphql' }, query, variables);
  if (error) throw error;
  return data as T;
}
