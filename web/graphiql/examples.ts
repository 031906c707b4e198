/// <reference types="vite/types/importMeta.d.ts" />

/** An operation with the name of its tab, and the headers that it needs, as JSON. */
export interface Example {
  readonly name: string;
  readonly query: string;
  readonly headers: string | null;
}

/** The examples in a folder, in the order of their file names. */
const inOrder = (files: Readonly<Record<string, string>>): Example[] =>
  Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, query]) => ({
      name: /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '',
      query,
      headers: /^# Headers: (\{.*\})$/m.exec(query)?.[1] ?? null,
    }));

/** Examples shown as tabs, from first steps to live changes. */
export const tabs = inOrder(
  import.meta.glob<string>('./examples/tabs/*.graphql', { query: '?raw', import: 'default', eager: true }),
);

/** Examples in the menu, the sensor example last. Each works after those before it and the tabs. */
export const menu = [
  ...inOrder(import.meta.glob<string>('./examples/menu/*.graphql', { query: '?raw', import: 'default', eager: true })),
  ...inOrder(
    import.meta.glob<string>('../../examples/sensors/*.graphql', { query: '?raw', import: 'default', eager: true }),
  ),
];
