import { element } from '../element.js';
import { countOf, formatNumber } from '../numbers.js';
import type { Rejects } from './survey.js';

/** Rejects in the list; the download has more. */
const LISTED_REJECTS = 50;

/** The rejected rows, as the command line writes them. */
function rejectsLink(file: File, { kept }: Rejects): HTMLElement {
  const lines = kept.map((each) => `${JSON.stringify(each)}\n`);
  const href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  return element('a', { href, download: `${file.name}.rejects.ndjson` }, 'Download the rejected rows');
}

/** The rejected rows of a file with their reasons; nothing if there are none. */
export function rejectsList(file: File, rejects: Rejects): HTMLElement[] {
  if (rejects.count === 0) return [];
  const rows = rejects.kept
    .slice(0, LISTED_REJECTS)
    .map(({ line, reason }) => element('li', {}, `Line ${line}: ${reason}`));
  const rest = rejects.count - rows.length;
  return [
    element(
      'details',
      { class: 'rejects' },
      element('summary', {}, `${countOf(rejects.count, 'row')} rejected`),
      element('ul', {}, ...rows),
      ...(rest > 0 ? [element('p', {}, `and ${formatNumber(rest)} more`)] : []),
      rejectsLink(file, rejects),
    ),
  ];
}
