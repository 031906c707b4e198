import { Command, Option } from 'commander';

import { FILE_FORMATS } from '../ingest/read/file-format.js';
import type { ImportOptions } from './import/options.js';
import {
  EXIT_CODES,
  geoJsonOption,
  geohashIndexOption,
  mapPropertyOption,
  prefixLengthOption,
  wholeNumber,
  writeShardsOption,
} from './options.js';

const HELP = `
Rows: GeoJSON features with Point geometry (id, properties.name, properties.category); NDJSON lines, each a feature or
an object with key, lng, lat, name, category; CSV with these columns. A list of names called place is the marker's place
in a hierarchy. Everything else becomes properties. A row without a key gets one from its content.
Zones: features with Polygon, MultiPolygon, LineString or MultiLineString geometry, in GeoJSON or one per line. An import
takes either markers or zones and rejects the others: for a file with both, run it once with --zones and once with
--no-zones.
Readings: NDJSON lines or CSV with marker (its key), at (RFC 3339), and numbers and texts as values. Expired readings are
skipped.
Invalid rows go to the rejects file with their line and the reason, and the import continues.
A table of the Geo Library is copied to disk by a parallel Scan, then loaded like a file: rangeKey becomes the key, name
and category keep their meaning, other attributes become properties. Its layout is detected. See docs/migrating.md.
After an interruption, run the same command again: markers resume, zones write what is missing, readings start over
without changing what is recorded.
${EXIT_CODES}`;

async function run(file: string | undefined, options: ImportOptions, command: Command): Promise<void> {
  const { fromGeoTable, readings } = options;
  if (fromGeoTable !== undefined && file === undefined) {
    return (await import('./import/geo-table.js')).importGeoTable(fromGeoTable, options);
  }
  if (fromGeoTable !== undefined || file === undefined) {
    command.error('error: import takes either a file or --from-geo-table');
  }
  if (readings === true) return (await import('./import/readings.js')).importReadingsFile(file, options);
  if (options.zones ?? (await holdsZones(file, options))) {
    return (await import('./import/zones.js')).importZonesFile(file, options);
  }
  return (await import('./import/markers.js')).importMarkersFile(file, options);
}

async function holdsZones(file: string, { format }: ImportOptions): Promise<boolean> {
  const { formatOf } = await import('../ingest/read/file-format.js');
  const { isZoneFile } = await import('../ingest/zones/zone-row.js');
  return isZoneFile(file, format ?? formatOf(file));
}

export function importCommand(): Command {
  return new Command('import')
    .description(
      'Import markers, zones or readings from a file, or a table of the Geo Library; importing again changes nothing',
    )
    .argument('[file]', 'the file; its extension determines the format, before .gz if it is compressed')
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
      ]),
    )
    .addOption(
      new Option('--from-geo-table <name>', 'import a table of the Geo Library instead of a file').conflicts([
        'readings',
        'zones',
        'format',
        'keyColumn',
        'latColumn',
        'lngColumn',
        'nameColumn',
        'categoryColumn',
      ]),
    )
    .addOption(geohashIndexOption())
    .addOption(geoJsonOption())
    .addOption(
      new Option('--segments <n>', 'segments of the parallel Scan of that table (8)').argParser(wholeNumber(1, 256)),
    )
    .addOption(new Option('--format <format>', 'format of the file, regardless of its extension').choices(FILE_FORMATS))
    .option('--key-column <name>', 'column or property with the key (GeoJSON: the id; else key or id)')
    .option('--lat-column <name>', 'column with the latitude (detected by common names)')
    .option('--lng-column <name>', 'column with the longitude (detected by common names)')
    .option('--name-column <name>', 'column or property with the name (name)')
    .option('--category-column <name>', 'column or property with the category (category)')
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
    .addHelpText('after', HELP)
    .action(run);
}
