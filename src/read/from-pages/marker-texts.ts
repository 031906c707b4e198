import { LRUCache } from 'lru-cache';

import type { MapMarker, Properties } from '../../model/marker.js';
import { ownBuffer } from '../../model/memory.js';
import { eachInTurns, type Turn } from '../../scheduling/turns.js';
import { entriesOfColumns, PageMarker, type PageColumns } from '../../store/page/page-data.js';

/** A way to write a marker as JSON. */
export interface MarkerFormat {
  /** Formats of the same name write the same. */
  readonly name: string;
  /** Whether it writes properties that this copy of a marker lacks. */
  readonly lacks: (marker: MapMarker) => boolean;
  /** The JSON of a marker with these properties, by default those of the copy. */
  readonly write: (marker: MapMarker, properties?: Properties) => string;
}

/** The texts of a page's markers, each followed by a comma. */
interface PageTexts {
  readonly bytes: Buffer;
  /** Where each text begins, and where the last one ends. */
  readonly starts: Uint32Array;
}

/** Neighbors in one page, or a single marker from elsewhere. */
type Run = [from: MapMarker, length: number];

/** Characters that are encoded together, where markers are written one by one. */
const PIECE = 64 * 1024;
/** Memory for the texts of a page, besides these. */
const ENTRY_BYTES = 400;

function runsOf(markers: readonly MapMarker[]): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  for (const marker of markers) {
    const [from, length] = run ?? [];
    if (
      run &&
      from instanceof PageMarker &&
      marker instanceof PageMarker &&
      marker.page.columns === from.page.columns &&
      marker.index === from.index + (length ?? 0)
    )
      run[1] += 1;
    else runs.push((run = [marker, 1]));
  }
  return runs;
}

/**
 * The JSON of markers of pages, written once for all answers: most of a map's answer is then copied, page by page. Limited
 * in bytes; the texts that were used last are kept.
 */
export class MarkerTexts {
  readonly #kept: LRUCache<string, PageTexts> | undefined;
  /** A page that was written again has other columns, hence another number. */
  readonly #numbers = new WeakMap<PageColumns, number>();
  #numbered = 0;

  /** `maxBytes`: 0 turns it off. */
  constructor(maxBytes: number) {
    const sizeCalculation = ({ bytes, starts }: PageTexts, name: string) =>
      ENTRY_BYTES + bytes.length + starts.byteLength + 2 * name.length;
    if (maxBytes > 0) this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** The memory of all texts. */
  get bytes(): number {
    return this.#kept?.calculatedSize ?? 0;
  }

  /**
   * Markers as JSON in UTF-8, with commas between them, in pieces to be joined. `read` gives the properties that a marker's
   * copy lacks.
   */
  async join(
    markers: readonly MapMarker[],
    format: MarkerFormat,
    turn: Turn,
    read?: (marker: MapMarker) => Properties | Promise<Properties>,
  ): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    const lacking = markers.some(format.lacks);
    if (lacking || this.#kept === undefined) {
      // Requested together, so that they are read together.
      const wanted = async (marker: MapMarker) => (format.lacks(marker) ? read?.(marker) : undefined);
      const properties = lacking ? await Promise.all(markers.map(wanted)) : [];
      let text = '';
      await eachInTurns(markers, turn, (marker, index) => {
        text += `${format.write(marker, properties[index])},`;
        if (text.length < PIECE && index + 1 < markers.length) return;
        pieces.push(Buffer.from(text));
        text = '';
      });
    } else {
      await eachInTurns(runsOf(markers), turn, ([from, length]) => {
        if (!(from instanceof PageMarker)) return void pieces.push(Buffer.from(`${format.write(from)},`));
        const { bytes, starts } = this.#textsOf(from.page.columns, from.collection, format);
        pieces.push(bytes.subarray(starts[from.index], starts[from.index + length]));
      });
    }
    const last = pieces.pop();
    if (last) pieces.push(last.subarray(0, -1));
    return pieces;
  }

  #textsOf(columns: PageColumns, collection: string, format: MarkerFormat): PageTexts {
    let number = this.#numbers.get(columns);
    if (number === undefined) this.#numbers.set(columns, (number = this.#numbered++));
    const name = `${number} ${format.name}`;
    const known = this.#kept?.get(name);
    if (known) return known;
    let text = '';
    const starts = new Uint32Array(columns[0].length + 1);
    let end = 0;
    entriesOfColumns(columns, collection).forEach(({ marker }, index) => {
      const written = format.lacks(marker) ? '' : `${format.write(marker)},`;
      text += written;
      end += Buffer.byteLength(written);
      starts[index + 1] = end;
    });
    const texts = { bytes: ownBuffer(text), starts };
    this.#kept?.set(name, texts);
    return texts;
  }
}
