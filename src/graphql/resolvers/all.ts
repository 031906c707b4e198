import type { Resolvers } from '../generated.js';
import { scalars } from '../scalars.js';
import { cell, cluster } from './cell.js';
import { collectionMutations } from './collection-mutations.js';
import { collection } from './collection.js';
import { markerMutations } from './marker-mutations.js';
import { marker } from './marker.js';
import { query } from './query.js';
import { subscription } from './subscription.js';
import { viewport } from './viewport.js';
import { zoneMutations } from './zone-mutations.js';
import { zone } from './zone.js';

const typeOf = (node: object) => ('prefixLength' in node ? 'Collection' : 'cells' in node ? 'Zone' : 'Marker');

/** Fields without a resolver are properties of their parent. */
export const resolvers: Resolvers = {
  ...scalars,
  Query: query,
  Mutation: { ...collectionMutations, ...markerMutations, ...zoneMutations },
  Subscription: subscription,
  Node: { __resolveType: typeOf },
  SearchResult: { __resolveType: typeOf },
  SearchConnection: { totalCount: ({ count }) => count() },
  Collection: collection,
  Marker: marker,
  MarkerConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
  NearbyConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
  Cell: cell,
  Cluster: cluster,
  Viewport: viewport,
  Zone: zone,
  ZoneConnection: { nodes: ({ edges }) => edges.map(({ node }) => node) },
};
