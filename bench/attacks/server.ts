import { createHttpServer, createServices } from '../../src/server/services.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { memoryDatabase } from '../../test/support/memory-store.js';

// A server over an empty collection in its own process. Its first message is its URL.
const database = memoryDatabase();
await createCollection(newCall(database), { key: 'parks', name: 'Parks' }, new Date().toISOString());
const { http } = await createHttpServer(createServices(database));
process.send?.(await http.listen({ host: '127.0.0.1', port: 0 }));
