/** The API allows no other origins, so page and API share one. */
export default { server: { proxy: { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } } } };
