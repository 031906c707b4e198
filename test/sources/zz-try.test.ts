import { test } from 'vitest';
import { propose } from '../../src/sources/propose/propose.js';
import { idAt } from '../../src/geolibrary/s2.js';
import { encode } from '../../src/geo/geohash.js';
const S = (name: string) => ({ name, type: 'S' as const }), N = (name: string) => ({ name, type: 'N' as const });
const pts = [{lng:16.92,lat:52.41},{lng:16.93,lat:52.42},{lng:17.01,lat:52.35},{lng:16.8,lat:52.3},{lng:-3.7,lat:40.4}];
const geo = (latFirst: boolean) => pts.map((p, i) => ({ hashKey: Number(String(idAt(p)).slice(0, 5)), rangeKey: `uuid-${i}`, geohash: idAt(p), geoJson: JSON.stringify({ type: 'POINT', coordinates: latFirst ? [p.lat, p.lng] : [p.lng, p.lat] }), name: `Shop ${i}` }));
const cases: [string, any, any[]][] = [
  ['geolib lat first', [N('hashKey'), S('rangeKey')], geo(true)],
  ['geolib lng first', [N('hashKey'), S('rangeKey')], geo(false)],
  ['single table', [S('PK'), S('SK')], [...pts.map((p, i) => ({ PK: `SHOP#${i}`, SK: 'META', title: `T ${i}`, location: { lat: p.lat, lon: p.lng }, kind: i % 2 ? 'bar' : 'cafe', email: 'a@b.c' })), ...pts.map((_, i) => ({ PK: `SHOP#${i}`, SK: `HOURS#${i}`, open: 9 })), { PK: 'USER#1', SK: 'META', name: 'u', email: 'x' }]],
  ['single table, two kinds same PK', [S('PK'), S('SK')], [...pts.map((p, i) => ({ PK: `CITY#${i % 2}`, SK: `SHOP#${i}`, name: `T ${i}`, ...p })), ...pts.map((p, i) => ({ PK: `CITY#${i % 2}`, SK: `DEPOT#${i}`, name: `D ${i}`, ...p })), { PK: 'CITY#0', SK: 'PROFILE', name: 'Poznan' }]],
  ['tracker', [S('deviceId'), N('ts')], pts.flatMap((p, i) => [0, 1, 2].map((k) => ({ deviceId: `dev-${i}`, ts: 1772366380 + k, latitude: p.lat + k / 100, longitude: p.lng, speed: k })))],
  ['tracker iso', [S('pk'), S('sk')], pts.flatMap((p, i) => [0, 1, 2].map((k) => ({ pk: `DEVICE#${i}`, sk: `POS#2026-01-0${k + 1}T00:00:00Z`, lat: p.lat + k / 100, lng: p.lng })))],
  ['nested address', [S('PK'), S('SK')], pts.map((p, i) => ({ PK: `USER#${i}`, SK: 'ADDRESS#home', address: { street: `Main Street ${i}`, location: { latitude: p.lat, longitude: p.lng } } }))],
  ['wkt', [S('id')], pts.map((p, i) => ({ id: `${i}`, geom: `SRID=4326;POINT(${p.lng} ${p.lat})` }))],
  ['list lng first tie', [S('id')], pts.map((p, i) => ({ id: `${i}`, loc: [p.lng, p.lat] }))],
  ['text latlng tie', [S('id')], pts.map((p, i) => ({ id: `${i}`, latlng: `${p.lat}, ${p.lng}` }))],
  ['text position tie', [S('id')], pts.map((p, i) => ({ id: `${i}`, position: `${p.lat}, ${p.lng}` }))],
  ['ride', [S('rideId')], pts.map((p, i) => ({ rideId: `r${i}`, start_lat: `${p.lat}`, start_lng: `${p.lng}`, end_lat: `${p.lat + 1}`, end_lng: `${p.lng}` }))],
  ['electrodb', [S('pk'), S('sk')], [...pts.map((p, i) => ({ pk: `$app#storeid_${i}`, sk: '$store_1', __edb_e__: 'store', __edb_v__: '1', storeId: `${i}`, name: `S ${i}`, lat: p.lat, lng: p.lng })), ...pts.map((_, i) => ({ pk: `$app#userid_${i}`, sk: '$user_1', __edb_e__: 'user', __edb_v__: '1' }))]],
  ['geohash bucket', [S('geohash5'), S('id')], pts.map((p, i) => ({ geohash5: encode(p, 5), id: `x${i}`, geohash: encode(p, 9), point: { type: 'Point', coordinates: [p.lng, p.lat] } }))],
  ['labelled bucket', [S('PK'), S('SK')], pts.map((p, i) => ({ PK: `GEO#${encode(p, 4)}`, SK: `STORE#${i}`, geohash: encode(p, 9), Lat: p.lat, Lon: p.lng }))],
  ['random readings', [S('id')], pts.flatMap((p, i) => [0, 1, 2].map((k) => ({ id: `${i}${k}-uuid`, vehicleId: `v${i}`, timestamp: 1772366380000 + k, lat: p.lat + k / 100, lng: p.lng })))],
  ['list of entrances', [S('id')], pts.map((p, i) => ({ id: `${i}`, entrances: [{ lat: p.lat, lng: p.lng }] }))],
  ['coords map strings', [S('placeId')], pts.map((p, i) => ({ placeId: `${i}`, coordinates: { latitude: String(p.lat), longitude: String(p.lng) }, deletedAt: null, isActive: i !== 2 }))],
  ['us list', [S('id')], [[-104.99, 39.73], [-87.6, 41.8], [-118.2, 34.1]].map((c, i) => ({ id: `${i}`, coordinates: c }))],
  ['latest + history', [S('PK'), S('SK')], pts.flatMap((p, i) => ['LATEST', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'].map((sk) => ({ PK: `VEHICLE#${i}`, SK: sk, lat: p.lat, lng: p.lng })))],
];
test('x', () => {
  for (const [name, key, items] of cases) {
    console.log('==', name);
    for (const p of propose({ name: 'Table', key }, items)) console.log('  ', p.kind, p.items, p.markers, JSON.stringify(p.mapping), p.notes);
  }
});
