// The documents that the page sends, beside those of the client. test/web/map.test.ts checks them against the schema.
export const COLLECTIONS = `query Collections {
  collections(first: 50) {
    nodes { key name description idStrategy count bounds { west south east north } zones(first: 1) { nodes { id } } }
  }
}`;
const MARKER = `id key name category position { lng lat } properties place version`;
export const DETAILS = `query Details($id: ID!) {
  marker(id: $id) { ${MARKER} collection { key name } readings(last: 60) { at values } }
}`;
export const CREATE = `mutation Create($input: CreateMarkerInput!) { createMarker(input: $input) { ${MARKER} } }`;
export const UPDATE = `mutation Update($input: UpdateMarkerInput!) { updateMarker(input: $input) { ${MARKER} } }`;
export const DELETE = `mutation Delete($id: ID!, $expectedVersion: Int) {
  deleteMarker(id: $id, expectedVersion: $expectedVersion) { ${MARKER} collection { key } }
}`;
