import { cellCentroid } from '../../geo/centroid.js';
import { cellBounds, center } from '../../geo/geohash.js';
import { cellChildren, cellMarkers, cellParent } from '../../map/cells/cells.js';
import type { CellResolvers, ClusterResolvers } from '../generated.js';

export const cell: CellResolvers = {
  precision: ({ geohash }) => geohash.length,
  bounds: ({ geohash }) => cellBounds(geohash),
  center: ({ geohash }) => center(geohash),
  centroid: (parent) => cellCentroid(parent.geohash, parent),
  parent: (parent, _args, { map }) => cellParent(map, parent),
  children: (parent, _args, { map }) => cellChildren(map, parent),
  markers: (parent, { first, after }, { map }) => cellMarkers(map, parent, { first: first ?? 100, after }),
};

export const cluster: ClusterResolvers = {
  geohashes: ({ cells }) => cells.map(({ geohash }) => geohash),
  expansionZoom: (parent) => parent.expansionZoom(),
  marker: (parent) => parent.marker(),
};
