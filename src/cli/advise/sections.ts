import type { Advice } from '../../capacity/advice.js';
import type { Candidate } from '../../capacity/candidates.js';
import { PRICE_LIST, type MonthlyCost } from '../../capacity/prices.js';
import type { ReadCost } from '../../capacity/views.js';
import { aligned } from '../progress.js';

/** A part of the report: sentences, and a table whose first row is its header. */
export interface Section {
  readonly title: string;
  readonly text: readonly string[];
  readonly rows?: readonly (readonly string[])[];
}

/** Formats a figure to its significant digits. */
export function figure(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)));
}
const percent = (part: number) => `${figure(part * 100)}%`;
const usd = (value: number) => value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const costRow = (what: string, { reads, writes, storage, total }: MonthlyCost) => [
  what,
  ...[reads, writes, storage, total].map(usd),
];
const readColumns = (cost: ReadCost | null) => (cost ? [figure(cost.calls), figure(cost.units)] : ['', '']);

function partitionSection({ demand, partitions }: Advice): Section {
  const { rcu, wcu, gb } = demand;
  const { byThroughput, byStorage, total, rcuEach, wcuEach } = partitions;
  return {
    title: 'Partitions',
    text: ['Peak units per second, for both tables together.'],
    rows: [
      ['', 'arithmetic', 'partitions'],
      ['by throughput', `ceil(${figure(rcu)} RCU / 3,000 + ${figure(wcu)} WCU / 1,000)`, String(byThroughput)],
      ['by storage', `ceil(${figure(gb)} GB / 10)`, String(byStorage)],
      ['in all', 'the larger', String(total)],
      ['per partition', `${figure(rcuEach)} RCU, ${figure(wcuEach)} WCU`, ''],
    ],
  };
}

function candidateRow(candidate: Candidate, advised: number, current: number | undefined): string[] {
  const { prefixLength, writeShards, hottest, hottestKey, fits, map } = candidate;
  const marks = [
    ...(prefixLength === advised ? ['recommended'] : []),
    ...(prefixLength === current ? ['current'] : []),
    ...(fits ? [] : ['over the limits']),
  ];
  return [
    String(prefixLength),
    String(writeShards),
    hottest.prefix === '' ? '(all)' : hottest.prefix,
    percent(hottest.share),
    figure(hottestKey.writeUnits),
    figure(hottestKey.readUnits),
    figure(hottestKey.gigabytes),
    figure(map.calls),
    figure(map.units),
    marks.join(', '),
  ];
}

function layoutSection(advice: Advice, current: number | undefined): Section {
  const { candidates, recommendation } = advice;
  return {
    title: 'Partition keys of the geo index',
    text: [
      'For each prefix length, the fewest write shards that keep its hottest key below 1,000 WCU, 3,000 RCU and 10 GB.',
    ],
    rows: [
      ['prefixLength', 'writeShards', 'hottest', 'share', 'WCU', 'RCU', 'GB', 'calls per map', 'units per map', ''],
      ...candidates.map((each) => candidateRow(each, recommendation.prefixLength, current)),
    ],
  };
}

function collectionSection({ itemCollection, bytes, recommendation, pages }: Advice): Section {
  const { limitGb, hottestGb, markersAtLimit } = itemCollection;
  const { item, entry } = bytes[recommendation.keyStyle];
  return {
    title: 'Item collections',
    text: [
      `A marker takes ${figure(item)} B, its index entry ${figure(entry)} B, and a page of ${figure(bytes.page.markers)} markers ${figure(bytes.page.bytes)} B.`,
      `The fullest partition key of the index holds ${figure(hottestGb)} of ${limitGb} GB; ${figure(markersAtLimit)} markers distributed like these would fill it.`,
      'DynamoDB enforces 10 GB only on tables with local secondary indexes, which Cellport does not use. A marker and its readings share a partition key: choose a readingsBucket for markers with years of readings.',
      `Pages have one partition key per first geohash character; ${pages.hottest} has ${percent(pages.share)} of the markers.`,
    ],
  };
}

function viewSection({ zooms, unitsAView }: Advice): Section {
  return {
    title: 'Maps of 1280x800 px, by zoom',
    text: [
      'Means of 24 maps around markers, planned as a server plans them: the first 2,000 markers, from pages with the directory in memory, or from the index while pages are not up to date; cells without any cache (the maximum).',
      `${figure(unitsAView)} read units per map on average over all zooms, using cells where more than 2,000 markers are inside.`,
    ],
    rows: [
      ['zoom', 'markers inside', 'cells: calls', 'units', 'pages: calls', 'units', 'index: calls', 'units'],
      ...zooms.map(({ zoom, inside, cells, pages, index }) => [
        String(zoom),
        figure(inside),
        ...[cells, pages, index].flatMap(readColumns),
      ]),
    ],
  };
}

function costSection({ demand: { rcu, wcu }, monthly, prices }: Advice): Section {
  const peaks = Object.entries({ maxReadRequestUnits: rcu, maxWriteRequestUnits: wcu });
  const limits = peaks.flatMap(([name, peak]) => (peak > 0 ? `${name} ${figure(Math.ceil(2 * peak))}` : []));
  const { region, date, sources } = PRICE_LIST;
  const isListed = Object.entries(PRICE_LIST.prices).every(
    ([name, usd]) => prices[name as keyof typeof prices] === usd,
  );
  return {
    title: 'USD per month (730 hours)',
    text: [
      `${isListed ? 'Prices' : 'Given prices; others'} of ${region}, ${date}, Standard table class (${sources.join(', ')}): ${prices.onDemandRead} and ${prices.onDemandWrite} per million read and write units on demand, ${prices.provisionedRead} and ${prices.provisionedWrite} per hour of a provisioned unit, ${prices.storage} per GB.`,
      'On demand bills the mean, provisioned the peak around the clock (auto scaling and reserved capacity lower it). Servers, stream reads and backups are not included.',
      ...(limits.length > 0
        ? [`On demand, an attack costs at most what each table allows: set ${limits.join(' and ')}, twice the peak.`]
        : []),
    ],
    rows: [
      ['', 'reads', 'writes', 'storage', 'total'],
      costRow('on demand', monthly.onDemand),
      costRow('provisioned', monthly.provisioned),
    ],
  };
}

/**
 * The sections of a report; `what` describes the markers, `current` is the collection's present layout if it exists.
 */
export function sectionsOf(advice: Advice, what: string, current?: { readonly prefixLength: number }): Section[] {
  const { prefixLength, writeShards, keyStyle, reasons } = advice.recommendation;
  return [
    {
      title: `Recommended: prefixLength ${prefixLength}, writeShards ${writeShards}, ${keyStyle} keys`,
      text: [`For ${what}; ${figure(advice.markers)} markers in the figures below.`, ...reasons],
    },
    partitionSection(advice),
    layoutSection(advice, current?.prefixLength),
    collectionSection(advice),
    viewSection(advice),
    costSection(advice),
  ];
}

/** The report for a terminal. */
export function sectionsAsText(sections: readonly Section[]): string {
  return sections
    .map(({ title, text, rows = [] }) => {
      const lines = aligned(rows, (column) => column === 0);
      return [title, '', ...text, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n');
    })
    .join('\n\n');
}
