import { Command, Option } from 'commander';

import type { Entity } from './entity-keys.js';
import { anyNumber, keyStyle, prefixLengthOption, styleOption, writeShardsOption, type KeyOptions } from './session.js';

async function printKeys(entity: Entity, options: KeyOptions): Promise<void> {
  const { keysOf } = await import('./entity-keys.js');
  const keys = keysOf(entity, options, await keyStyle(options));
  if (options.json === true) return console.log(JSON.stringify(keys, null, 2));
  const width = Math.max(...Object.keys(keys).map((name) => name.length));
  for (const [name, value] of Object.entries(keys)) console.log(`${name.padEnd(width)}  ${value}`);
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('Print the keys of an entity in the tables; needs no database');
  const entity = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .argument('<collection>', 'key of the collection')
      .addOption(styleOption())
      .option('--code <code>', 'two-character code of the collection, for compact keys')
      .option('--json', 'print JSON');
  entity('collection', 'Print the keys of a collection').action((collection: string, options: KeyOptions) =>
    printKeys({ kind: 'collection', collection }, options),
  );
  entity('marker', 'Print the keys of a marker and its entry in the geo index')
    .argument('<key>', 'key of the marker')
    .addOption(new Option('--lng <degrees>', 'longitude').argParser(anyNumber).makeOptionMandatory())
    .addOption(new Option('--lat <degrees>', 'latitude').argParser(anyNumber).makeOptionMandatory())
    .addOption(prefixLengthOption().default(2))
    .addOption(writeShardsOption().default(1))
    .action((collection: string, key: string, options: KeyOptions & { lng: number; lat: number }) =>
      printKeys({ kind: 'marker', collection, key, lng: options.lng, lat: options.lat }, options),
    );
  entity('cell', "Print the keys of the item that stores the counts of a cell's direct children")
    .argument('[geohash]', 'the parent cell, up to 4 characters; the whole world by default', '')
    .action((collection: string, geohash: string, options: KeyOptions) =>
      printKeys({ kind: 'cell', collection, geohash }, options),
    );
  return keys;
}
