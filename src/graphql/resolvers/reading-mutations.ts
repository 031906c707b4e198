import { recordReadings } from '../../store/reading/readings.js';
import type { MutationResolvers } from '../generated.js';
import { referenceOf } from './references.js';

export const readingMutations = {
  recordReadings: async (_root, { marker: id, readings }, context) => {
    const { services, work } = context;
    const marker = await referenceOf(context, 'marker', id, 'recordReadings');
    return recordReadings(services.db, marker, readings, services.now(), work);
  },
} satisfies MutationResolvers;
