import { createHash } from 'node:crypto';

import { CHANGES_SUBSCRIPTION, EXPAND_QUERY, viewportDocument } from '../../../src/client/documents.js';
import { MAX_RECTANGLES } from '../../../src/client/viewport.js';
import * as operations from '../api/documents.js';

/** All operations of the page, and of the client that it uses: their texts by SHA-256. */
export function pageDocuments(): Record<string, string> {
  const views = (['auto', 'markers', 'cells', 'zones'] as const).flatMap((content) =>
    Array.from({ length: MAX_RECTANGLES }, (_, index) => viewportDocument(content, index + 1)),
  );
  const texts = [...Object.values(operations), ...views, EXPAND_QUERY, CHANGES_SUBSCRIPTION];
  return Object.fromEntries(texts.map((text) => [createHash('sha256').update(text).digest('hex'), text]));
}
