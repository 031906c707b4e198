import { element } from '../dom/element.js';
import { countOf, formatNumber } from '../text/numbers.js';
import type { Rejects } from './survey.js';

/** Number of rejects in the list; the download may have more. */
const LISTED_REJECTS = 50;

/** A link to the rejected rows, in the format of the command line. */
function rejectsLink(file: File, { kept }: Rejects): HTMLElement {
  const lines = kept.map((each) => `${JSON.stringify(each)}\n`);
  const href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  return element('a', { href, download: `${file.name}.rejects.ndjson` }, 'Download rejected rows');
}

/** The rejected rows of a file with their reasons; empty if there are none. */
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
