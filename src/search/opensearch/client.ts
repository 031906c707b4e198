import type { Client, ClientOptions } from '@opensearch-project/opensearch';

import { orAskFor } from '../../optional-package.js';

export type { Client } from '@opensearch-project/opensearch';

const orAsk = orAskFor('CELLPORT_OPENSEARCH_URL', '@opensearch-project/opensearch');

/** Domains of Amazon OpenSearch Service, with their region. */
const AWS_HOSTS = [
  /\.(?<region>[a-z0-9-]+)\.(?<service>es|aoss)\.amazonaws\.com(?:\.cn)?$/,
  /\.aos\.(?<region>[a-z0-9-]+)\.on\.aws$/,
];

/**
 * Signs requests with SigV4 and the AWS SDK's own credentials, if the endpoint is in AWS and its URL has no password.
 */
async function signing({ hostname, username }: URL): Promise<ClientOptions> {
  const { groups } = AWS_HOSTS.map((host) => host.exec(hostname)).find((match) => match !== null) ?? {};
  const { region, service } = groups ?? {};
  if (region === undefined || username !== '') return {};
  const { AwsSigv4Signer } = await import('@opensearch-project/opensearch/aws').catch(orAsk);
  return AwsSigv4Signer({ region, service: service === 'aoss' ? 'aoss' : 'es' }) as ClientOptions;
}

/**
 * Creates a client for the cluster at a URL, without connecting. It does not retry: callers know what may be repeated.
 */
export async function openClient(url: string, options: ClientOptions = {}): Promise<Client> {
  // Loaded only if used, so that servers without OpenSearch start without it.
  const { Client: Opened } = await import('@opensearch-project/opensearch').catch(orAsk);
  return new Opened({ node: url, maxRetries: 0, requestTimeout: 30_000, ...(await signing(new URL(url))), ...options });
}

/** The HTTP status of an error response; undefined if there was no response. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** Whether a status may be transient: too many requests, or a failure of the cluster. */
export const mayPass = (status: number): boolean => status === 429 || status >= 500;

/** Whether there was no response. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof Error && /^(Connection|Timeout|NoLivingConnections|RequestAborted)Error$/.test(error.name);
