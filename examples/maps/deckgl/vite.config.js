/** Pages and API come from one host, as the API answers no other. */
export default { server: { proxy: { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } } } };
