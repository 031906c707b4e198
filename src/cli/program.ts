import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { FILE_FORMATS, type FileFormat } from '../ingest/read/read-file.js';
import { endOf } from './failure.js';

/** What the exit code says; `--help` names the same. */
const EXIT_CODES = `
Exit codes: 0 done, also after Ctrl-C or SIGTERM to a server; 1 it failed or was interrupted;
2 the command line, a setting or the input is wrong.`;

const SETTINGS = `
Settings come from the environment, the most needed ones:
  PORT, HOST                 where to listen (4000, 127.0.0.1)
  CELLPORT_TABLE             table of the entities (cellport); -derived is added for the second one
  CELLPORT_KEY_STYLE         readable or compact (readable)
  CELLPORT_DATA_DIR          data of the embedded engine and of interrupted imports (.cellport)
  CELLPORT_LOG               silent, error, warn, info or debug (warn)
  AWS_ENDPOINT_URL_DYNAMODB  a DynamoDB elsewhere; AWS_REGION or AWS_PROFILE alone mean AWS itself
Without any of the AWS ones the embedded DynamoDB Local is started. All are in docs/configuration.md.`;

const STYLES = ['readable', 'compact'] as const;

/** Reads a whole number of an option. */
function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** Reads a number of an option; what is allowed beyond that is told where it is used. */
function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number.');
}

function bounds(text: string): [number, number, number, number] {
  const [west, south, east, north, ...more] = text.split(',').map(anyNumber);
  if (west === undefined || south === undefined || east === undefined || north === undefined || more.length > 0) {
    throw new InvalidArgumentError('It must be four numbers: west,south,east,north.');
  }
  return [west, south, east, north];
}

/** The settings of the environment; read when a command runs, so that `--help` needs none of them to be right. */
async function config(options: { readonly demo?: boolean } = {}): Promise<Config> {
  const { readConfig, silenceSdkAdvice } = await import('../config.js');
  silenceSdkAdvice();
  return readConfig(options);
}

const prefixLength = () =>
  new Option('--prefix-length <n>', 'geohash characters in the partition key of its markers').argParser(
    wholeNumber(0, 6),
  );
const writeShards = () =>
  new Option('--write-shards <n>', 'partitions that each prefix is spread over').argParser(wholeNumber(1, 32));
const geohashIndex = () =>
  new Option('--geohash-index <name>', 'the index by geohash of a table of the Geo Library (geohash-index)');
const geoJson = () => new Option('--geo-json <name>', 'the attribute with its coordinates (geoJson)');
const style = () =>
  new Option('--style <style>', 'how keys are written; CELLPORT_KEY_STYLE where left out').choices(STYLES);

interface KeyOptions {
  readonly style?: (typeof STYLES)[number];
  readonly code?: string;
  readonly prefixLength: number;
  readonly writeShards: number;
  readonly json?: boolean;
}

/** The whole command line. Each command loads its own code: what it does not need is not read from disk. */
function buildProgram(): Command {
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };
  const program = new Command('cellport')
    .description('A GraphQL server for maps over Amazon DynamoDB.')
    .version(version, '-v, --version', 'print the version')
    .helpCommand(false)
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', `${SETTINGS}\n${EXIT_CODES}`)
    .exitOverride();

  program
    .command('serve')
    .description('Serve GraphQL; makes the tables where they are missing')
    .option('--demo', 'load the cities of the world first, unless they are there')
    .option('--geo-table <name>', 'serve this table of the Geo Library too, read-only, as a collection of its name')
    .addOption(geohashIndex())
    .addOption(geoJson())
    .addHelpText('after', EXIT_CODES)
    .action(async ({ demo = false, geoTable, ...names }: GeoTableNames & { demo?: boolean; geoTable?: string }) => {
      const { serve } = await import('./serve.js');
      await serve(await config({ demo }), {
        demo,
        version,
        geoTable: geoTable ? { ...names, name: geoTable } : undefined,
      });
    });

  program
    .command('import')
    .description(
      'Import markers, zones or readings from a file, or a whole table of the Geo Library; again changes nothing',
    )
    .argument('[file]', 'the file; its name says the format')
    .requiredOption('-c, --collection <key>', 'the collection; made where it is missing, but not for readings')
    .option('--zones', 'the file holds zones, as it does by itself where its first feature is an area or a line')
    .option('--no-zones', 'the file holds markers, whatever its first feature is')
    .addOption(
      new Option('--readings', 'the file holds readings of markers that are there').conflicts([
        'zones',
        'name',
        'code',
        'mapProperty',
        'prefixLength',
        'writeShards',
      ]),
    )
    .addOption(
      new Option('--from-geo-table <name>', 'a table of the Geo Library instead of a file').conflicts([
        'readings',
        'zones',
        'format',
        'keyField',
      ]),
    )
    .addOption(geohashIndex())
    .addOption(geoJson())
    .addOption(
      new Option('--segments <n>', 'parts of that table that are read side by side (8)').argParser(wholeNumber(1, 256)),
    )
    .addOption(new Option('--format <format>', 'the format, whatever the name of the file').choices(FILE_FORMATS))
    .option('--key-field <name>', 'field or property that holds the key (GeoJSON: the id; else key or id)')
    .option('--rejects <file>', 'where rows go that are none (FILE.rejects.ndjson)')
    .option('--name <name>', 'name of a collection that is made; its key where left out')
    .option('--code <code>', 'two symbols for a collection that is made, where keys are compact')
    .option('--map-property <name...>', 'properties that a map draws, for a collection that is made')
    .addOption(prefixLength())
    .addOption(writeShards())
    .addHelpText(
      'after',
      `
Rows: GeoJSON features with Point geometry (id, properties.name, properties.category); NDJSON lines with a
feature, or with key, lng, lat, name, category; CSV with such a header. A list of names called place is where the
marker hangs in a hierarchy. What else there is becomes properties.
Zones: features with Polygon, MultiPolygon, LineString or MultiLineString geometry, in GeoJSON or one a line. Of a file
with both, an import takes markers or zones and rejects the others: run it once with --zones and once with --no-zones.
Readings: NDJSON lines or CSV with marker (its key), at (RFC 3339), and numbers and texts, which are the values. Those
that have expired are left out.
Rows that are none go to the rejects file with their line and the reason, and the import goes on.
A table of the Geo Library is copied to disk by a parallel Scan, then loaded as a file: rangeKey is the key, name and
category are themselves, other attributes are properties. Its layout is recognised. docs/migrating.md has the whole way.
Interrupted, the same command goes on where it was, of zones writes what is lacking, and begins anew with readings, which
changes nothing.
${EXIT_CODES}`,
    )
    .action(async (file: string | undefined, options: ImportOptions) => {
      if ((file === undefined) === (options.fromGeoTable === undefined)) {
        throw new CellportError('BAD_USER_INPUT', 'import takes a file, or --from-geo-table with the name of a table');
      }
      if (options.fromGeoTable !== undefined) {
        const { importGeoTable } = await import('./import-geo-table.js');
        await importGeoTable(await config(), options.fromGeoTable, options);
        return;
      }
      if (file === undefined) return;
      if (options.readings === true) {
        const { importReadingsFile } = await import('./import-readings.js');
        await importReadingsFile(await config(), file, options);
        return;
      }
      const { importFile } = await import('./import.js');
      await importFile(await config(), file, options);
    });

  program
    .command('export')
    .description('Write the markers or zones of a collection to a file that import reads again')
    .requiredOption('-c, --collection <key>', 'the collection')
    .option('--zones', 'its zones instead of its markers, as GeoJSON or NDJSON')
    .addOption(
      new Option('-b, --bounds <west,south,east,north>', 'only what lies in this rectangle, in degrees').argParser(
        bounds,
      ),
    )
    .addOption(
      new Option('--format <format>', 'the format; where left out, the name of the file tells').choices(FILE_FORMATS),
    )
    .option('-o, --out <file>', 'the file, which is there when it is complete (standard output)')
    .addHelpText(
      'after',
      `
GeoJSON and NDJSON hold a feature a line, CSV the columns key, lng, lat, name, category, place and properties (JSON).
Readings and the settings of the collection are not exported. docs/formats.md has the formats.
${EXIT_CODES}`,
    )
    .action(async (options: ExportOptions) => (await import('./export.js')).exportFile(await config(), options));

  program
    .command('recount')
    .description('Count all markers anew and put the cells right; ends a gap in the stream')
    .option('--check', 'change nothing; fail where a cell is not what it has to be')
    .addHelpText('after', EXIT_CODES)
    .action(async ({ check = false }: { check?: boolean }) =>
      (await import('./recount.js')).recountAll(await config(), { check }),
    );

  const table = program
    .command('table')
    .description('Make, describe or delete the tables')
    .addHelpText('after', EXIT_CODES);
  table
    .command('create')
    .description('Make what is missing of the two tables, and check what is there')
    .action(async () => (await import('./table.js')).createTables(await config()));
  table
    .command('describe')
    .description('Print what is there: state, indexes, items, and what differs from what is needed')
    .option('--json', 'as JSON')
    .action(async ({ json = false }: { json?: boolean }) =>
      (await import('./table.js')).describe(await config(), { json }),
    );
  table
    .command('delete')
    .description('Delete both tables with all that is in them')
    .option('--yes', 'do it; without this nothing is deleted')
    .action(async ({ yes = false }: { yes?: boolean }) => (await import('./table.js')).drop(await config(), { yes }));

  const keys = program
    .command('keys')
    .description('Print the keys that an entity has in the tables; needs no database')
    .addHelpText('after', EXIT_CODES);
  const keyCommand = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .addOption(style())
      .option('--code <code>', 'two symbols of the collection, where keys are compact')
      .option('--json', 'as JSON');
  keyCommand('collection', 'Keys of a collection')
    .argument('<collection>', 'key of the collection')
    .action(async (collection: string, options: KeyOptions) =>
      (await import('./keys.js')).printKeys({ kind: 'collection', collection }, options, await keyStyle(options)),
    );
  keyCommand('marker', 'Keys of a marker, and of its entry in the geographic index')
    .argument('<collection>', 'key of the collection')
    .argument('<key>', 'key of the marker')
    .addOption(new Option('--lng <degrees>', 'its longitude').argParser(anyNumber).makeOptionMandatory())
    .addOption(new Option('--lat <degrees>', 'its latitude').argParser(anyNumber).makeOptionMandatory())
    .addOption(prefixLength().default(2))
    .addOption(writeShards().default(1))
    .action(async (collection: string, key: string, options: KeyOptions & { lng: number; lat: number }) => {
      const { lng, lat } = options;
      const entity = { kind: 'marker', collection, key, lng, lat } as const;
      (await import('./keys.js')).printKeys(entity, options, await keyStyle(options));
    });
  keyCommand('cell', 'Keys of the item with the counts of all cells that lie directly in a cell')
    .argument('<collection>', 'key of the collection')
    .argument('[geohash]', 'the cell around them (stored up to 4 characters); none for the whole world', '')
    .action(async (collection: string, geohash: string, options: KeyOptions) =>
      (await import('./keys.js')).printKeys({ kind: 'cell', collection, geohash }, options, await keyStyle(options)),
    );

  program
    .command('sweep')
    .description('Remove objects of the object store that no zone has, left by processes that were killed')
    .addOption(
      new Option('--older-than <minutes>', 'leave alone what is younger: its zone may just be written')
        .argParser(wholeNumber(1, 1_000_000))
        .default(60),
    )
    .addHelpText('after', EXIT_CODES)
    .action(async ({ olderThan }: { olderThan: number }) => {
      await (await import('./sweep.js')).sweep(await config(), { olderThan });
    });

  program
    .command('plan')
    .description('Print which ranges a viewport would read; needs no database, so it knows no counts')
    .addOption(
      new Option('-b, --bounds <west,south,east,north>', 'the rectangle in degrees')
        .argParser(bounds)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('-z, --zoom <zoom>', 'as MapLibre counts it, -2 to 30').argParser(anyNumber).makeOptionMandatory(),
    )
    .option('-c, --collection <key>', 'key of the collection', 'cities')
    .addOption(prefixLength().default(2))
    .addOption(writeShards().default(1))
    .addOption(style())
    .option('--code <code>', 'two symbols of the collection, where keys are compact')
    .option('--json', 'as JSON')
    .addHelpText('after', EXIT_CODES)
    .action(async (options: PlanOptions) => {
      (await import('./plan.js')).printPlan(options, await keyStyle(options));
    });
  return program;
}

async function keyStyle(options: Pick<KeyOptions, 'style'>): Promise<(typeof STYLES)[number]> {
  return options.style ?? (await config()).keyStyle;
}

/** Names in a table of the Geo Library that its keys do not tell. */
interface GeoTableNames {
  readonly geohashIndex?: string;
  readonly geoJson?: string;
}

export interface ImportOptions extends GeoTableNames {
  readonly fromGeoTable?: string;
  readonly segments?: number;
  readonly collection: string;
  readonly readings?: boolean;
  /** Recognised by the file where it is left out. */
  readonly zones?: boolean;
  readonly format?: FileFormat;
  readonly keyField?: string;
  readonly rejects?: string;
  readonly name?: string;
  readonly code?: string;
  readonly mapProperty?: readonly string[];
  readonly prefixLength?: number;
  readonly writeShards?: number;
}

export interface ExportOptions {
  readonly collection: string;
  readonly zones?: boolean;
  readonly bounds?: readonly [west: number, south: number, east: number, north: number];
  readonly format?: FileFormat;
  readonly out?: string;
}

export interface PlanOptions extends KeyOptions {
  readonly bounds: readonly [west: number, south: number, east: number, north: number];
  readonly zoom: number;
  readonly collection: string;
}

export type { KeyOptions };

/** Runs the command line and gives the exit code: see EXIT_CODES. Never throws. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    if (args.length === 0) {
      program.outputHelp();
      return 2;
    }
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said what is wrong, or printed what was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { message, code } = endOf(error);
    console.error(message);
    return error instanceof CellportError && error.code === 'BAD_USER_INPUT' ? 2 : code;
  }
}
