import type { Content } from './options.js';

// Types are generated from these fragments; documents are assembled from them below.

const BOUNDS = /* GraphQL */ `
  fragment ClientBounds on Bounds {
    west
    south
    east
    north
  }
`;

const MARKER = /* GraphQL */ `
  fragment ClientMarker on Marker {
    id
    key
    name
    category
    position {
      lng
      lat
    }
    properties
  }
`;

const AUTO = /* GraphQL */ `
  fragment ClientAuto on ViewportContent {
    mode
    markers {
      ...ClientMarker
    }
    clusters {
      position {
        lng
        lat
      }
      bounds {
        ...ClientBounds
      }
      geohashes
      count
    }
  }
`;

const MARKERS = /* GraphQL */ `
  fragment ClientMarkers on MarkerConnection {
    nodes {
      ...ClientMarker
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

const CELL = /* GraphQL */ `
  fragment ClientCell on Cell {
    geohash
    precision
    bounds {
      ...ClientBounds
    }
    centroid {
      lng
      lat
    }
    count
  }
`;

const ZONES = /* GraphQL */ `
  fragment ClientZones on ZoneConnection {
    nodes {
      id
      key
      name
      properties
      bounds {
        ...ClientBounds
      }
      geometry(tolerance: $tolerance)
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

const EXPAND = /* GraphQL */ `
  query ClientExpand($bounds: BoundsInput!, $zoom: Float!, $collection: String!, $filter: MarkerFilter) {
    viewport(bounds: $bounds, zoom: $zoom) {
      auto(collection: $collection, limit: 1, filter: $filter) {
        markers {
          ...ClientMarker
        }
        clusters {
          geohashes
          expansionZoom
          marker {
            ...ClientMarker
          }
        }
      }
    }
  }
`;

const CHANGES = /* GraphQL */ `
  subscription ClientChanges($collection: String!, $bounds: BoundsInput!, $since: DateTime) {
    markerChanged(collection: $collection, bounds: $bounds, since: $since) {
      kind
      id
      marker {
        ...ClientMarker
      }
      previous {
        lng
        lat
      }
      sequence
    }
  }
`;

export const EXPAND_QUERY = EXPAND + MARKER;
export const CHANGES_SUBSCRIPTION = CHANGES + MARKER;

const FIELDS: Readonly<
  Record<Content, readonly [variables: string, field: (index: number) => string, fragments: string]>
> = {
  auto: [
    '$filter: MarkerFilter',
    (index) => `content: auto(collection: $collection, limit: $limit${index}, filter: $filter) { ...ClientAuto }`,
    AUTO + MARKER + BOUNDS,
  ],
  markers: [
    '$filter: MarkerFilter',
    (index) =>
      `content: markers(collection: $collection, first: $limit${index}, after: $after${index}, filter: $filter) { ...ClientMarkers }`,
    MARKERS + MARKER,
  ],
  cells: [
    '$precision: Int',
    () => 'content: cells(collection: $collection, precision: $precision) { ...ClientCell }',
    CELL + BOUNDS,
  ],
  zones: [
    '$tolerance: Float',
    (index) =>
      `content: zones(collection: $collection, first: $limit${index}, after: $after${index}) { ...ClientZones }`,
    ZONES + BOUNDS,
  ],
};

/**
 * The document that reads several rectangles at once, as `r0`, `r1` and so on; the text depends only on their number.
 */
export function viewportDocument(content: Content, rectangles: number): string {
  const [variables, field, fragments] = FIELDS[content];
  const indexes = Array.from({ length: rectangles }, (_, index) => index);
  const inputs = indexes.map((index) => {
    const limit = content === 'cells' ? '' : ` $limit${index}: Int`;
    const after = content === 'markers' || content === 'zones' ? ` $after${index}: String` : '';
    return `$bounds${index}: BoundsInput!${limit}${after}`;
  });
  const fields = indexes.map(
    (index) => `r${index}: viewport(bounds: $bounds${index}, zoom: $zoom) { ${field(index)} }`,
  );
  return `query Map($collection: String!, $zoom: Float!, ${variables} ${inputs.join(' ')}) { ${fields.join(' ')} }${fragments}`;
}
