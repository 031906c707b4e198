import { Command, Option } from 'commander';

import { FILE_FORMATS } from '../ingest/read/file-format.js';
import type { ImportOptions } from './import/options.js';
import { mapPropertyOption, prefixLengthOption, writeShardsOption } from './session.js';

const HELP = `
Markers: GeoJSON features with a Point (id, properties.name, properties.category); an array, lines (NDJSON) or a sequence
(RFC 8142) of features or of objects with key, lng, lat, name and category, also in DynamoDB's JSON; or CSV with these
columns. A position may also be WKT, GeoJSON, an object or a list, with decimal commas or degrees and minutes, under its
usual names in several languages. The field place, a list of names, is the marker's address in a hierarchy. All other
fields become properties. A CSV column contains numbers or booleans if all its cells do, otherwise text. Numbers that JSON
would round become text. A row without a key gets one derived from its content. At the end, the command prints what it
guessed. See docs/formats.md.
Zones: features with Polygon, MultiPolygon, LineString or MultiLineString geometry, in the same formats except CSV. An
import reads either markers or zones and rejects the others. If a file has both, run the command once with --zones and
once with --no-zones.
Readings: JSON or CSV with marker (its key), at (RFC 3339), and numbers or text as values. Expired readings are skipped.
Tables: --from-table copies a table to disk with a Scan, then loads it like a file. The mapping says which items are
markers: see docs/sources.md. Its details become properties, and maps of a new collection draw its properties.
Invalid rows go to the rejects file with their line and the reason, and the import continues.
--prune first writes all rows and says how many markers it will delete. It deletes none if a row was rejected or the file
could not be read to its end.
After an interruption, run the same command again: markers resume, zones write what is missing, and readings start over
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
    .description('Import markers, zones or readings from a file, or markers from a table; repeating it is safe')
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
    .option('--encoding <label>', 'encoding of the file, e.g. windows-1250 (default: UTF-8; for CSV, detected)')
    .option(
      '--key-column <name>',
      'column or property with the key (default: the id of a feature, otherwise key or id)',
    )
    .option('--lat-column <name>', 'column with the latitude (default: detected by its name)')
    .option('--lng-column <name>', 'column with the longitude (default: detected by its name)')
    .option('--name-column <name>', 'column or property with the name (default: name, otherwise title)')
    .option('--category-column <name>', 'column or property with the category (default: category)')
    .option('--text-column <name...>', 'CSV columns to read as text although all cells are numbers')
    .option('--number-column <name...>', 'CSV columns to read as numbers although some cells are text')
    .option('--prune', 'delete markers of the collection that are not in the file')
    .option('--yes', 'with --prune, delete even more than half of the collection')
    .option('--rejects <file>', 'file for rejected rows (default: FILE.rejects.ndjson)')
    .option('--wait', 'wait until counts include all rows, even if a running server updates them')
    .option('--name <name>', 'name for a new collection (default: its key)')
    .option('--code <code>', 'two-character code for a new collection, for compact keys')
    .addOption(
      new Option('--id-strategy <strategy>', 'how a new collection assigns keys to markers (default: given)').choices([
        'given',
        'sequence',
        'uuid',
      ]),
    )
    .addOption(mapPropertyOption('<names...>', 'properties that maps draw, for a new collection'))
    .addOption(prefixLengthOption())
    .addOption(writeShardsOption())
    .option(
      '--no-geo-index',
      'for a new collection: keep no geo index, so that a move costs a third. See docs/pages.md',
    )
    .addHelpText('after', HELP)
    .action(run);
}
