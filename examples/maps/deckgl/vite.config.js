const target = process.env.CELLPORT_URL ?? 'http://127.0.0.1:4000';

/** The API allows no other origins, so page and API share one. */
export default { server: { host: '127.0.0.1', proxy: { '/graphql': { target, ws: true } } } };
