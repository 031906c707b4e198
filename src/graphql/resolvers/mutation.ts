import type { MutationResolvers } from '../generated.js';
import { collectionMutations } from './collection-mutations.js';
import { markerMutations } from './marker-mutations.js';
import { readingMutations } from './reading-mutations.js';
import { zoneMutations } from './zone-mutations.js';

export const mutation: MutationResolvers = {
  ...collectionMutations,
  ...markerMutations,
  ...readingMutations,
  ...zoneMutations,
};
