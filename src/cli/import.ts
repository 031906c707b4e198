import { Command, Option } from 'commander';

import { FILE_FORMATS } from '../ingest/read/file-format.js';
import type { ImportOptions } from './import/options.js';
import { mapPropertyOption, prefixLengthOption, writeShardsOption } from './session.js';

const HELP = `
Rows: GeoJSON features with Point geometry (id, properties.name, properties.category); an array, lines (NDJSON) or a
sequence (RFC 8142) of features or of objects with key, lng, lat, name, category, also in DynamoDB's JSON; CSV with these
columns. Positions may also be WKT, GeoJSON, objects or lists, with decimal commas or degrees and minutes, under their
usual names in several languages. A list of names called place is the marker's place in a hierarchy. Everything else
becomes properties: a CSV column whose cells are all numbers, or all true or false, has these; every other is text.
Numbers that JSON cannot keep are text. A row without a key gets one from its content. What was guessed is said at the
end.
Zones: features with Polygon, MultiPolygon, LineString or MultiLineString geometry, in the same formats but CSV. An import
takes either markers or zones and rejects the others: for a file with both, run it once with --zones and once with
--no-zones.
--prune removes the collection's markers that the file no longer has, after it has said how many and written all rows;
nothing is removed if a row was rejected or the file could not be read to its end.
Readings: JSON or CSV with marker (its key), at (RFC 3339), and numbers and texts as values. Expired readings are skipped.
Invalid rows go to the rejects file with their line and the reason, and the import continues.
A table is copied to disk by a Scan, then loaded like a file. Its mapping says which items are markers: see
docs/sources.md. Details become properties, and new collections draw the properties of the mapping.
After an interruption, run the same command again: markers resume, zones write what is missing, readings start over
without changing what is recorded.`;

async function run(file: string, options: ImportOptions): Promise<void> {
  const { fromTable, readings } = options;
  if (fromTable !== undefined) return (await import('./import/table.js')).importTable(fromTable, file, options);
  if (readings === true) return (await import('./import/readings.js')).importReadingsFile(file, options);
  if (options.zones ?? (await holdsZones(file, options))) {
    return (await import('./import/zones.js')).importZonesFile(file, options);
  }
  return (await import('./import/markers.js')).importMarkersFile(file, options);
}

async function holdsZones(file: string, { format, encoding }: ImportOptions): Promise<boolean> {
  const { formatOf } = await import('../ingest/read/file-format.js');
  const { isZoneFile } = await import('../ingest/zones/zone-row.js');
  return isZoneFile(file, format ?? formatOf(file), encoding);
}

export function importCommand(): Command {
  return new Command('import')
    .description(
      'Import markers, zones or readings from a file, or markers from a table; importing again changes nothing',
    )
    .argument('<file>', 'the file; its extension determines the format, before .gz if it is compressed')
    .requiredOption('-c, --collection <key>', 'the collection; created if missing, except for readings')
    .option('--zones', 'the file contains zones (the default if its first feature is an area or a line)')
    .option('--no-zones', 'the file contains markers, regardless of its first feature')
    .addOption(
      new Option('--readings', 'the file contains readings of existing markers').conflicts([
        'zones',
        'name',
        'code',
        'idStrategy',
        'mapProperty',
        'prefixLength',
        'writeShards',
        'geoIndex',
        'prune',
      ]),
    )
    .addOption(
      new Option('--from-table <name>', 'import markers from this table; the file is their mapping').conflicts([
        'readings',
        'zones',
        'format',
        'keyColumn',
        'latColumn',
        'lngColumn',
        'nameColumn',
        'categoryColumn',
        'textColumn',
        'numberColumn',
        'encoding',
        'prune',
      ]),
    )
    .addOption(new Option('--format <format>', 'format of the file, regardless of its extension').choices(FILE_FORMATS))
    .option('--encoding <label>', 'encoding of the file, e.g. windows-1250 (UTF-8; CSV also guessed)')
    .option('--key-column <name>', 'column or property with the key (GeoJSON: the id; else key or id)')
    .option('--lat-column <name>', 'column with the latitude (detected by common names)')
    .option('--lng-column <name>', 'column with the longitude (detected by common names)')
    .option('--name-column <name>', 'column or property with the name (name, else title)')
    .option('--category-column <name>', 'column or property with the category (category)')
    .option('--text-column <name...>', 'CSV columns that are text, though all cells are numbers')
    .option('--number-column <name...>', 'CSV columns that have numbers, though some cells are text')
    .option('--prune', 'remove markers of the collection that the file no longer has')
    .option('--yes', 'with --prune, remove even more than half of the collection')
    .option('--rejects <file>', 'file for rejected rows (FILE.rejects.ndjson)')
    .option('--wait', 'wait until counts include all rows, even if a running server updates them')
    .option('--name <name>', 'name for a new collection (its key)')
    .option('--code <code>', 'two-character code for a new collection, for compact keys')
    .addOption(
      new Option('--id-strategy <strategy>', 'how a new collection assigns keys to markers (given)').choices([
        'given',
        'sequence',
        'uuid',
      ]),
    )
    .addOption(mapPropertyOption('<names...>', 'properties that maps draw, for a new collection'))
    .addOption(prefixLengthOption())
    .addOption(writeShardsOption())
    .option('--no-geo-index', 'for a new collection: find markers through pages alone, so that a move costs a third')
    .addHelpText('after', HELP)
    .action(run);
}
