import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import { documentOf } from './documents.js';

// Writes batches of 50 documents until it is killed; the checkpoint gives their number.
const engine = await openEmbeddedEngine(
  { folder: process.argv[2] ?? '', table: 'killed', maxBytes: 2 ** 30 },
  () => 1_000,
);
for (let batch = Number((await engine.checkpoint()) ?? 0); ; batch += 1) {
  const documents = Array.from({ length: 50 }, (_, index) => documentOf(`${batch}-${index}`, { rank: index }));
  await engine.write(
    documents.map((document) => ({ type: 'put', document })),
    String(batch + 1),
  );
  process.stdout.write('.');
}
