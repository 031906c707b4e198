import { defineEntity } from './entity.js';
import { INDEXES } from './indexes.js';

export type KeyStyle = 'readable' | 'compact';

/** The entities of one style. `scope` names a collection: its key where keys are readable, its code where they are compact. */
export function declareEntities(style: KeyStyle) {
  const pk = <const R extends string, const C extends string>(readable: R, compact: C) =>
    (style === 'readable' ? readable : compact) as R;
  const geo = {
    pk: pk('marker::{scope}::{prefix}::{shard*}', '{scope:2}Mg#{prefix}::{shard*}'),
    sk: '{rest}::{key}',
  } as const;
  return {
    collection: defineEntity({ name: 'collection', key: { pk: pk('collection', '--Co#'), sk: '{key}' } }),
    code: defineEntity({ name: 'code', key: { pk: pk('code', '--Cc#'), sk: '{code}' } }),
    marker: defineEntity({
      name: 'marker',
      key: { pk: pk('marker::{scope}::{key}', '{scope:2}Ma#{key}'), sk: 'self' },
      indexes: {
        geoA: { attributes: INDEXES.geoA, ...geo },
        geoB: { attributes: INDEXES.geoB, ...geo },
      },
      mayBeEmpty: ['prefix'],
    }),
    cell: defineEntity({
      name: 'cell',
      key: { pk: pk('cell::{scope}::{length}::{prefix}', '{scope:2}{length:2}#{prefix}'), sk: '{suffix}' },
      mayBeEmpty: ['prefix'],
    }),
    streamState: defineEntity({
      name: 'streamState',
      key: { pk: pk('stream::{consumer}', '--St#{consumer}'), sk: 'state' },
    }),
    setAside: defineEntity({
      name: 'setAside',
      key: { pk: pk('stream::{consumer}', '--St#{consumer}'), sk: 'aside::{sequence}' },
    }),
  };
}
