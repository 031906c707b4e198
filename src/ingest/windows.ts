/** Rows written together; an import resumes after the last complete window. */
const WINDOW_ROWS = 2_000;
/** Maximum size of a window in the file, so that memory stays bounded for large rows. */
const WINDOW_BYTES = 8 * 1024 * 1024;

/** Groups rows or offsets into windows of at most `rows` items and about 8 MB of the file. */
export async function* windowsOf<T extends { readonly length: number }>(
  items: Iterable<T> | AsyncIterable<T>,
  rows = WINDOW_ROWS,
): AsyncGenerator<T[]> {
  let window: T[] = [];
  let bytes = 0;
  for await (const item of items) {
    window.push(item);
    bytes += item.length;
    if (window.length < rows && bytes < WINDOW_BYTES) continue;
    yield window;
    window = [];
    bytes = 0;
  }
  if (window.length > 0) yield window;
}
