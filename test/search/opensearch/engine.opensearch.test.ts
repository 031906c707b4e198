import { describe } from 'vitest';

import { HAS_OPENSEARCH } from '../../services/opensearch-server.js';
import { someOf } from '../../support/rounds.js';
import { describeEngine } from '../contract.js';
import { newClient, newEngine } from './cluster.js';

/** Creating an index for each run takes 0.1 s or more. */
const fewOf = (runs: number) => Math.ceil(someOf(runs) / 12);

describe.skipIf(!HAS_OPENSEARCH)('OpenSearch', () => {
  describeEngine('OpenSearch', async () => newEngine(await newClient()), fewOf);
});
