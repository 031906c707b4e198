/** A sensor and where it hangs, outermost name first, e.g. `['Poznań', 'Bałtyk', '3', '302']`; in storage it hangs nowhere. */
export interface Sensor {
  readonly id: string;
  readonly name: string;
  readonly place: readonly string[];
}

/** One page of a list, and where the next one begins if there is one. */
export interface Page {
  readonly sensors: readonly Sensor[];
  readonly next: Cursor | undefined;
}

export interface PageOptions {
  /** Most sensors of the page. */
  readonly limit: number;
  readonly after?: Cursor | undefined;
}

type Cursor = Readonly<Record<string, unknown>>;

/**
 * Sensors that are found by any level of where they hang. It is written in two ways: `extra-item.ts`, `sparse-index.ts`.
 * All but `create`, `find` and `sensorsIn` reject where there is no such sensor, and nothing is ever half written.
 */
export interface SensorRegister {
  /** Rejects where the id is taken. */
  create(sensor: Sensor): Promise<void>;
  /** As its last write left it. */
  find(id: string): Promise<Sensor | undefined>;
  move(id: string, place: readonly string[]): Promise<void>;
  /** Changes what lists show. */
  rename(id: string, name: string): Promise<void>;
  /** Changes what lists do not show. */
  calibrate(id: string, at: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** The sensors at a place of one name or more and at all places inside it. */
  sensorsIn(place: readonly [string, ...string[]], options: PageOptions): Promise<Page>;
}
