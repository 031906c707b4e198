import { recordReadings } from '../../store/reading/readings.js';
import type { MutationResolvers } from '../generated.js';
import { referenceOf } from './marker-mutations.js';

export const readingMutations = {
  recordReadings: async (_root, { marker: id, readings }, { services, map, work }) =>
    recordReadings(services.db, await referenceOf(map, id), readings, services.now(), work),
} satisfies MutationResolvers;
