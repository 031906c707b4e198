import { Command, Option } from 'commander';

import { badInput } from '../errors.js';
import { EXPORT_FORMATS, exportFormatOf, isTableFormat } from '../ingest/export/export-format.js';
import { isGzip } from '../ingest/read/gzip.js';
import type { ExportOptions } from './export/rows.js';
import { boundsOption } from './session.js';

async function run(options: ExportOptions): Promise<void> {
  const { out, zones, escapeFormulas } = options;
  const format = options.format ?? (out === undefined ? 'geojson' : exportFormatOf(out));
  if (zones === true && format === 'csv') throw badInput('--format', format, 'a format other than csv for zones');
  if (isTableFormat(format) && (out === undefined || isGzip(out)))
    throw badInput('--out', out, `an uncompressed file for ${format}`);
  if (escapeFormulas === true && format !== 'csv') throw badInput('--escape-formulas', format, 'for csv');
  await (await import('./export/rows.js')).exportRows(options, format);
}

export function exportCommand(): Command {
  return new Command('export')
    .description('Write the markers or zones of a collection to a file')
    .requiredOption('-c, --collection <key>', 'the collection')
    .option('--zones', 'export zones instead of markers (any format but CSV)')
    .addOption(boundsOption('export only what is in this bounding box, in degrees'))
    .addOption(
      new Option(
        '--format <format>',
        'format of the file (default: by the extension of --out, otherwise geojson)',
      ).choices(EXPORT_FORMATS),
    )
    .option(
      '-o, --out <file>',
      'output file, compressed if it ends in .gz; created when complete (default: standard output)',
    )
    .option('--escape-formulas', 'CSV: quote text that a spreadsheet would run as a formula; import reads it back')
    .addHelpText(
      'after',
      `
GeoJSON and NDJSON have one feature per line; CSV has the columns key, lng, lat, name, category, place and properties
(JSON). FlatGeobuf (.fgb) and GeoParquet (.parquet) have a column for each property; import cannot read them. Readings and
the settings of the collection are not exported. See docs/formats.md.`,
    )
    .action(run);
}
