import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import topology from 'world-atlas/land-110m.json';

const world = topology as unknown as Topology<{ readonly land: GeometryCollection }>;

/** Something to see below the markers; a real map has tiles here. */
export const land = feature(world, world.objects.land);
