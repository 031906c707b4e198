import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import topology from 'world-atlas/land-110m.json';

const world = topology as unknown as Topology<{ readonly land: GeometryCollection }>;

/** A minimal base map; a real map would use tiles. */
export const land = feature(world, world.objects.land);
