import type { Status } from './status.js';
import type { MapSearchOptions } from './search/search.js';
import type { SearchBox } from './search/search-box.js';

/** Features that the first load of the page omits. */
export interface OnDemand {
  search(): void;
  /** Shows the keys. */
  keys(): void;
  /** Shows that a part could not be loaded. */
  missing(): void;
}

export interface OnDemandOptions extends MapSearchOptions {
  readonly status: Status;
}

/** Loads parts of the page when they are first used. */
export function createOnDemand({ status, ...options }: OnDemandOptions): OnDemand {
  let box: SearchBox | undefined;

  async function search(): Promise<void> {
    const { createSearch } = await import('./search/search.js');
    box ??= createSearch(options);
    box.open();
  }

  const missing = () => status.show('Could not load this part of the page. Reload the page.');
  return {
    search: () => void search().catch(missing),
    keys: () => void import('./help/keys-dialog.js').then(({ showKeys }) => showKeys()).catch(missing),
    missing,
  };
}
