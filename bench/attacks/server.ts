import { createCollection } from '../../src/store/collection/collections.js';
import { createHttpServer, createServices } from '../../src/server/services.js';
import { newCall } from '../../src/store/request/meter.js';
import { memoryDatabase } from '../../test/support/memory-store.js';

// A server over an empty collection, as a process of its own. Its first message is its address.
const database = memoryDatabase();
await createCollection(database, { key: 'parks', name: 'Parks' }, new Date().toISOString(), newCall());
const { http } = await createHttpServer(createServices({ database }));
process.send?.(await http.listen({ host: '127.0.0.1', port: 0 }));
