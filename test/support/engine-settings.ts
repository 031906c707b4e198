import type { EngineAddress } from '../../src/engine/start.js';

/** Settings that make a command use a running engine. */
export function settingsOf({ endpoint, region, credentials }: EngineAddress): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}
