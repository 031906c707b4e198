import './import.css';

import type { Map as MapLibre } from 'maplibre-gl';

import { NotUtf8 } from './lines.js';
import type { Collection } from '../documents.js';
import { button, element } from '../element.js';
import { fitWithoutAnimation } from '../fly.js';
import { icon } from '../icons.js';
import { countOf, formatNumber } from '../numbers.js';
import { type CollectionFields, collectionFields, createCollection, nameOf, refusal } from './collection-fields.js';
import { copyCommand } from './copy-command.js';
import { NotGeoJson } from './features.js';
import { previewPoints } from './preview-points.js';
import { previewTable } from './preview-table.js';
import { rejectsList } from './rejects-list.js';
import { WrongFile } from './rows.js';
import { type Survey, surveyFile } from './survey.js';
import { type Written, writeFile } from './write.js';

/** A larger file is read by the command line: the page would have to stay open too long. */
const LARGEST_FILE = 50_000_000;

export interface ImportOptions {
  readonly map: MapLibre;
  readonly place: HTMLElement;
  readonly collections: () => readonly Collection[];
  /** A collection was created. */
  readonly onCreate: (collection: Collection) => void;
  /** Markers of a collection were written. */
  readonly onWrite: (key: string) => void;
  readonly onClose: () => void;
}

/** What opens in the panel. */
export interface ImportPanel {
  /** Shows what is in a file and offers to import it. */
  readFile(file: File): Promise<void>;
  /** Asks for the name of a new collection. */
  newCollection(): void;
  /** Hides the panel; an import that is running goes on. */
  close(): void;
}

const percent = (part: number) => `${Math.floor(100 * Math.min(1, part))} %`;

function messageOf(error: unknown): string {
  if (error instanceof WrongFile || error instanceof NotGeoJson || error instanceof NotUtf8) return error.message;
  return refusal(error);
}

/** The panel that imports files and creates collections. */
export function createImportPanel(options: ImportOptions): ImportPanel {
  const { map, place, collections, onCreate, onWrite, onClose } = options;
  /** Ends what is under way. */
  let stop = new AbortController();
  /** Whether an import is running. */
  let running = false;

  function show(title: string, ...content: Node[]): void {
    const close = button({ class: 'icon', 'aria-label': 'Close' }, hide, icon('close'));
    place.replaceChildren(element('header', {}, element('h2', {}, title), close), ...content);
    place.hidden = false;
  }

  function hide(): void {
    place.hidden = true;
    if (!running) end();
    onClose();
  }

  /** Ends what is under way and clears the preview. */
  function end(): void {
    stop.abort();
    stop = new AbortController();
    previewPoints(map, []);
  }

  const note = (text: string) => element('p', { role: 'status' }, text);
  const fault = (text: string) => element('p', { role: 'alert', class: 'fault' }, text);

  async function readFile(file: File): Promise<void> {
    if (running) return void (place.hidden = false);
    end();
    const { signal } = stop;
    if (file.size > LARGEST_FILE) {
      const text = `The page reads files of up to ${LARGEST_FILE / 1e6} MB. Import this one where the server runs:`;
      const command = copyCommand(`npx cellport import ${file.name} --collection ${keyFor(file)}`);
      return show(file.name, fault(text), command);
    }
    const reading = note('Reading …');
    show(file.name, reading);
    place.focus();
    try {
      const onRead = (part: number) => (reading.textContent = `Reading … ${percent(part)}`);
      const survey = await surveyFile(file, {}, { signal, onRead });
      if (!signal.aborted) showPreview(file, survey);
    } catch (error) {
      if (!signal.aborted) show(file.name, fault(messageOf(error)));
    }
  }

  const keyFor = (file: File) => collectionFields(nameOf(file.name)).value.key;

  function showPreview(file: File, survey: Survey): void {
    const { count, rejects, bounds, points, keysFromContent } = survey;
    if (count === 0 || !bounds) {
      const text = rejects.count > 0 ? 'No row of this file is a place.' : 'This file is empty.';
      const areas = rejects.kept.some(({ reason }) => /^geometry is (?!Point)/.test(reason));
      const command = copyCommand(`npx cellport import ${file.name} --collection ${keyFor(file)}`);
      const hint = areas ? [note('Areas and lines are imported where the server runs:'), command] : [];
      return show(file.name, fault(text), ...hint, ...rejectsList(file, rejects));
    }
    previewPoints(map, points);
    const target = targetFields(file);
    const submit = element('button', { class: 'act', type: 'submit' }, `Import ${countOf(count, 'place')}`);
    const form = element(
      'form',
      {},
      ...target.elements,
      element('div', { class: 'buttons' }, button({}, hide, 'Cancel'), submit),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void run(file, survey, target, submit, form);
    });
    const keys = keysFromContent ? ' Rows without a key get one from their content.' : '';
    const again = `The same file again changes nothing.${keys}`;
    show(file.name, note(`${countOf(count, 'place')} found. ${again}`), previewTable(survey), ...rejectsList(file, rejects), form); // prettier-ignore
    fitWithoutAnimation(map, bounds, place);
    submit.focus();
  }

  /** Where a file goes: a new collection, or one whose keys are given. */
  function targetFields(file: File) {
    const fields = collectionFields(nameOf(file.name));
    const fresh = element('div', {}, ...fields.elements);
    const existing = collections().filter(({ idStrategy }) => idStrategy === 'GIVEN');
    const choices = existing.map(({ key, name }) => element('option', { value: key }, name));
    const select = element(
      'select',
      { name: 'target' },
      element('option', { value: '' }, 'A new collection'),
      ...choices,
    );
    const same = existing.find(({ key }) => key === fields.value.key);
    select.value = same?.key ?? '';
    const follow = () => {
      fresh.hidden = select.value !== '';
      for (const input of fresh.querySelectorAll('input')) input.disabled = fresh.hidden;
    };
    select.addEventListener('change', follow);
    follow();
    const label = element('label', {}, 'Into', select);
    return { elements: choices.length > 0 ? [label, fresh] : [fresh], fields, select };
  }

  async function run(
    file: File,
    survey: Survey,
    { fields, select }: { readonly fields: CollectionFields; readonly select: HTMLSelectElement },
    submit: HTMLButtonElement,
    form: HTMLFormElement,
  ): Promise<void> {
    submit.disabled = true;
    const { signal } = stop;
    let collection = select.value;
    try {
      if (collection === '') {
        const made = await createCollection(fields.value);
        collection = made.key;
        onCreate(made);
        // An import that is continued finds its collection.
        select.append(element('option', { value: collection }, made.name));
        select.value = collection;
      }
    } catch (error) {
      submit.disabled = false;
      form.querySelector('.fault')?.remove();
      return form.prepend(fault(messageOf(error)));
    }
    await write(file, survey, collection, signal);
  }

  async function write(file: File, survey: Survey, collection: string, signal: AbortSignal): Promise<void> {
    running = true;
    previewPoints(map, []);
    const bar = element('progress', { max: String(survey.count), 'aria-label': 'Import' });
    bar.value = 0;
    const told = note(`0 of ${countOf(survey.count, 'place')}`);
    const cancel = button({}, () => stop.abort(), 'Cancel');
    show(`Importing ${file.name}`, bar, told, element('div', { class: 'buttons' }, cancel));
    cancel.focus();
    let written: Written = { created: 0, updated: 0, unchanged: 0 };
    const onProgress = (soFar: Written, rows: number) => {
      written = soFar;
      bar.value = rows;
      told.textContent = `${formatNumber(rows)} of ${countOf(survey.count, 'place')}`;
      onWrite(collection);
    };
    const { rejects } = survey;
    let failed: string | undefined;
    try {
      await writeFile({ file, options: {}, survey, collection, rejects, signal, onProgress });
    } catch (error) {
      failed = signal.aborted ? 'Cancelled. What was written stays.' : messageOf(error);
    }
    running = false;
    onWrite(collection);
    const { created, updated, unchanged } = written;
    const sum = `${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`;
    const again = button({}, () => (end(), void readFile(file)), 'Try again');
    const buttons = element('div', { class: 'buttons' }, ...(failed === undefined ? [] : [again]), doneButton());
    const title = failed === undefined ? `Imported ${file.name}` : `Not all of ${file.name}`;
    show(title, ...(failed === undefined ? [] : [fault(failed)]), note(sum), ...rejectsList(file, rejects), buttons);
    buttons.querySelector<HTMLElement>('.act')?.focus();
  }

  const doneButton = () => button({ class: 'act' }, hide, 'Done');

  function newCollection(): void {
    if (running) return void (place.hidden = false);
    end();
    const fields = collectionFields('');
    const submit = element('button', { class: 'act', type: 'submit' }, 'Create');
    const buttons = element('div', { class: 'buttons' }, button({}, hide, 'Cancel'), submit);
    const form = element('form', {}, ...fields.elements, buttons);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      submit.disabled = true;
      createCollection(fields.value).then(
        (made) => {
          hide();
          onCreate(made);
        },
        (error: unknown) => {
          submit.disabled = false;
          form.querySelector('.fault')?.remove();
          form.prepend(fault(messageOf(error)));
        },
      );
    });
    show('New collection', form);
    fields.name.focus();
  }

  return { readFile, newCollection, close: hide };
}
