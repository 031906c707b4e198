// What a shop's own system knows: a type and a field of its own, loaded for all markers of an answer at once.

import DataLoader from 'dataloader';

export const typeDefs = `
  type Goods { sells: String!, price: Float! }
  extend type Marker { goods: Goods }
`;

/** The resolvers over `read`, which gets the keys of all markers of a request and gives the goods of each, or null. */
export function resolversOver(read) {
  const loaders = new WeakMap();
  return {
    Marker: {
      goods({ key }, _args, context) {
        const loader = loaders.get(context) ?? new DataLoader(read);
        loaders.set(context, loader);
        return loader.load(key);
      },
    },
  };
}
