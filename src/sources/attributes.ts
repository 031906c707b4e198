import type { Mapping, Path } from './mapping.js';

type Place = NonNullable<Mapping['position']['fallback']>;

/** The paths of a position; none if there is none. */
export const pathsOf = (place: Place | undefined): readonly Path[] =>
  place === undefined ? [] : 'lng' in place ? [place.lng, place.lat] : [place.path];

/** The attributes of an item that decide what maps draw of it; `details` are read apart. */
export function attributesDrawn(mapping: Mapping): readonly string[] {
  const { items = {}, key, where, each, ttl, position, name, category, place, properties, newest } = mapping;
  const optional = [each, ttl, name, category, newest].filter((path) => path !== undefined);
  const paths = [
    ...(key?.paths ?? []),
    ...where.map((test) => test.path),
    ...pathsOf(position),
    ...pathsOf(position.fallback),
    ...place,
    ...properties,
    ...optional,
  ];
  return [...new Set([...Object.keys(items), ...paths.map(([first]) => String(first))])];
}
