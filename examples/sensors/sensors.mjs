// The buildings, their sensors and what these measure: the same at every run but for the time of the readings.

const BUILDINGS = [
  { key: 'baltyk', place: ['Poznań', 'Bałtyk'], position: { lng: 16.9117, lat: 52.4087 }, floors: 12, rooms: 4 },
  { key: 'okraglak', place: ['Poznań', 'Okrąglak'], position: { lng: 16.9217, lat: 52.408 }, floors: 8, rooms: 3 },
  {
    key: 'lehrer',
    place: ['Berlin', 'Haus des Lehrers'],
    position: { lng: 13.416, lat: 52.5222 },
    floors: 12,
    rooms: 4,
  },
  { key: 'bikini', place: ['Berlin', 'Bikini-Haus'], position: { lng: 13.3376, lat: 52.5057 }, floors: 6, rooms: 5 },
];
const KINDS = [
  { category: 'temperature', name: 'Temperature', unit: '°C' },
  { category: 'co2', name: 'CO2', unit: 'ppm' },
];
const HOUR_MS = 3_600_000;

/** Every room has a thermometer, every second one measures CO2 as well. */
function sensorsIn({ key, place, position, floors, rooms }) {
  return Array.from({ length: floors * rooms }, (_, at) => {
    const floor = Math.floor(at / rooms) + 1;
    const room = (at % rooms) + 1;
    const number = `${floor}${String(room).padStart(2, '0')}`;
    return KINDS.slice(0, 2 - (room % 2)).map(({ category, name, unit }) => ({
      key: `${key}-${floor}-${number}-${category[0]}`,
      name: `${name} in ${number}`,
      category,
      // Rooms are some meters apart, floors above one another.
      position: { lng: position.lng + room * 1e-5, lat: position.lat + room * 1e-5 },
      place: [...place, String(floor), number],
      properties: { unit },
    }));
  }).flat();
}

/** All sensors as `createMarkers` takes them. */
export const SENSORS = BUILDINGS.flatMap(sensorsIn);

/** A sensor's readings of the last `count` full hours before `now`, as `recordReadings` takes them. */
export function readingsOf({ key, category }, count, now) {
  const lastHour = Math.floor(now.getTime() / HOUR_MS);
  return Array.from({ length: count }, (_, at) => {
    const hour = lastHour - at;
    // By day it is warmer and people breathe; no two sensors agree.
    const day = Math.sin(((hour % 24) - 9) * (Math.PI / 12));
    const own = Math.sin(hour * key.length + key.codePointAt(key.length - 3));
    const values =
      category === 'co2'
        ? { ppm: Math.round(620 + 180 * day + 40 * own) }
        : { celsius: Number((20.5 + 1.5 * day + 0.3 * own).toFixed(1)) };
    return { at: new Date(hour * HOUR_MS).toISOString(), values };
  });
}
