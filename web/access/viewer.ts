type Action = 'read' | 'write' | 'record' | 'admin';

interface Permission {
  readonly collections: readonly string[];
  readonly actions: readonly Action[];
  readonly filtered: boolean;
}

/** Who is signed in, and what they may do. */
export interface Viewer {
  readonly name: string | null;
  readonly roles: readonly string[];
  readonly may: readonly Permission[];
}

export const VIEWER_FIELDS = 'viewer { name roles may { collections actions filtered } }';
export const VIEWER = `query Viewer { ${VIEWER_FIELDS} }`;

/** Whether the server asks who its clients are. */
export const isAsked = ({ name, roles }: Viewer): boolean => name !== null || roles.length > 0;

/** Whether someone has signed in with a key or a token. */
export const isSignedIn = ({ name }: Viewer): boolean => name !== null;

const covers = (pattern: string, key: string) =>
  pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : pattern === key;

/** Whether a viewer may do something with a collection; without a key, with any. */
export const may = (viewer: Viewer, action: Action, key?: string): boolean =>
  viewer.may.some(
    ({ actions, collections }) =>
      actions.includes(action) && (key === undefined || collections.some((pattern) => covers(pattern, key))),
  );

/** Whether a viewer administers all collections, and so may see what requests read and cost. */
export const isAdmin = (viewer: Viewer): boolean =>
  viewer.may.some(
    ({ actions, collections, filtered }) => actions.includes('admin') && collections.includes('*') && !filtered,
  );
