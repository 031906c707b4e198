/** The operations behind the methods of `Cellport`; their types are generated from them. */

/** What `Query.marker` and `updateMarker` return, without what needs further reads. */
export const MARKER = /* GraphQL */ `
  fragment OwnMarker on Marker {
    id
    key
    position {
      lng
      lat
    }
    name
    category
    place
    properties
    version
    createdAt
    updatedAt
  }
`;

export const UPSERT = /* GraphQL */ `
  mutation Upsert($collection: String!, $markers: [MarkerInput!]!) {
    result: upsertMarkers(collection: $collection, markers: $markers) {
      created
      updated
      unchanged
      failures {
        index
        code
        message
      }
    }
  }
`;

export const GET = /* GraphQL */ `
  query Get($id: ID!) {
    result: marker(id: $id) {
      ...OwnMarker
    }
  }
`;
export const UPDATE = /* GraphQL */ `
  mutation Update($input: UpdateMarkerInput!) {
    result: updateMarker(input: $input) {
      ...OwnMarker
    }
  }
`;
export const DELETE = /* GraphQL */ `
  mutation Delete($ids: [ID!]!) {
    result: deleteMarkers(ids: $ids) {
      deleted
      failures {
        index
        code
        message
      }
    }
  }
`;

export const VIEWPORT = /* GraphQL */ `
  query View($bounds: BoundsInput!, $zoom: Float!, $collection: String!, $limit: Int) {
    result: viewport(bounds: $bounds, zoom: $zoom) {
      features(collection: $collection, limit: $limit)
    }
  }
`;
