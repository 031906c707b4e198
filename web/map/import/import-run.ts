import { button, element } from '../dom/element.js';
import { countOf, formatNumber } from '../text/numbers.js';
import { messageOf } from './failure-text.js';
import { fault, note, type Frame } from './frame.js';
import { previewPoints } from './preview-points.js';
import { rejectsList } from './rejects-list.js';
import { writeFile, type WriteOptions, type Written } from './write.js';

export interface RunOptions extends Omit<WriteOptions, 'rejects' | 'onProgress'> {
  /** Called when markers of the collection have been written. */
  readonly onWrite: (key: string) => void;
  /** Called when the user wants to retry after a failure. */
  readonly onRetry: () => void;
}

/** Writes a file, shows the progress, and then the result. */
export async function runImport(frame: Frame, { onWrite, onRetry, ...options }: RunOptions): Promise<void> {
  const { file, survey, collection, signal } = options;
  const { rejects } = survey;
  const total = countOf(survey.count, 'place');
  const bar = element('progress', { max: String(survey.count), 'aria-label': 'Import' });
  bar.value = 0;
  const progress = note(`0 of ${total}`);
  const cancel = button({}, () => frame.cancel(), 'Cancel');
  frame.isWriting = true;
  previewPoints(frame.map, []);
  frame.show(`Importing ${file.name}`, bar, progress, element('div', { class: 'buttons' }, cancel));
  cancel.focus();
  let written: Written = { created: 0, updated: 0, unchanged: 0 };
  const onProgress = (soFar: Written, rows: number) => {
    written = soFar;
    bar.value = rows;
    progress.textContent = `${formatNumber(rows)} of ${total}`;
    onWrite(collection);
  };
  let failed: string | undefined;
  try {
    await writeFile({ ...options, rejects, onProgress });
  } catch (error) {
    failed = signal.aborted ? 'Canceled. Rows already written are kept.' : messageOf(error);
  }
  frame.isWriting = false;
  onWrite(collection);
  const { created, updated, unchanged } = written;
  const sum = note(`${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`); // prettier-ignore
  const done = button({ class: 'act' }, frame.hide, 'Done');
  const list = rejectsList(file, rejects);
  if (failed === undefined) {
    frame.show(`Imported ${file.name}`, sum, ...list, element('div', { class: 'buttons' }, done));
  } else {
    const buttons = element('div', { class: 'buttons' }, button({}, onRetry, 'Try again'), done);
    frame.show(`${file.name} imported only in part`, fault(failed), sum, ...list, buttons);
  }
  done.focus();
}
