import fc from 'fast-check';
import { expect, test } from 'vitest';

import { featuresOf } from '../../web/map/import/features.js';
import { type Lines, linesOf, readText, textForm } from '../../web/map/import/lines.js';

/** The text in pieces that end at these positions. */
async function* inPieces(text: string, ends: readonly number[]): AsyncGenerator<string> {
  const at = [...new Set(ends.map((end) => end % (text.length + 1)))].toSorted((a, b) => a - b);
  for (const [index, end] of [...at, text.length].entries()) yield text.slice(at[index - 1] ?? 0, end);
}

async function all(batches: AsyncIterable<readonly Lines[]>): Promise<Lines[]> {
  const found: Lines[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

const ends = fc.array(fc.nat(2_000), { maxLength: 8 });
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\\', '"features": [', ',]}', '\\"', '\n'));

test('the features of a file are found with their lines, wherever its pieces end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, list: fc.array(fc.nat()) })),
      name,
      ends,
      async (features, title, cuts) => {
        const texts = features.map((each, at) => JSON.stringify(each, undefined, at % 2));
        const text = `{"title": ${JSON.stringify(title)},\n "features" : [\n${texts.join(' ,\n')}\n], "end": [1, {}]}`;
        let line = 3;
        const expected = texts.map((each) => {
          const found = { line, text: each };
          line += each.split('\n').length;
          return found;
        });
        expect(await all(featuresOf(inPieces(text, cuts)))).toEqual(expected);
      },
    ),
  );
});

test('a file that ends within its features is rejected', async () => {
  const text = '{"features": [\n{"a": 1},\n{"a": 2}';
  await expect(all(featuresOf(inPieces(text, [])))).rejects.toThrow('after line 3');
});

test.each([
  ['utf-8', Buffer.from('\ufeffMalmö €\n')],
  ['windows-1252', Buffer.from('Malm\xf6 \x80\n', 'latin1')],
  ['utf-16le', Buffer.from('\ufeffMalmö €\n', 'utf16le')],
] as const)('a table in %s, as spreadsheets write it, is read', async (encoding, bytes) => {
  const file = new Blob([bytes]);
  const form = await textForm(file, true);
  expect(form.encoding).toBe(encoding);
  const text = readText(file, form);
  // Node 20 does not map the bytes from 0x80 to 0x9f, browsers do.
  expect((await all(linesOf(text)))[0]?.text.replace('\x80', '€')).toBe('Malmö €');
});

test('lines are found wherever the pieces of a file end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[^\r\n]*$/)),
      fc.constantFrom('\n', '\r\n'),
      ends,
      async (lines, end, cuts) => {
        const text = lines.map((each) => each + end).join('');
        const expected = lines.map((each, at) => ({ line: at + 1, text: each }));
        expect(await all(linesOf(inPieces(text, cuts)))).toEqual(expected);
      },
    ),
  );
});
