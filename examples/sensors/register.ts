/**
 * A sensor and its place, outermost name first, for example `['Poznań', 'Bałtyk', '3', '302']`; a sensor in storage has
 * none.
 */
export interface Sensor {
  readonly id: string;
  readonly name: string;
  readonly place: readonly string[];
}

/** A page of a list, and the cursor of the next one if there is one. */
export interface Page {
  readonly sensors: readonly Sensor[];
  readonly next: Cursor | undefined;
}

export interface PageOptions {
  /** Maximum number of sensors. */
  readonly limit: number;
  readonly after?: Cursor | undefined;
}

type Cursor = Readonly<Record<string, unknown>>;

/**
 * Sensors that can be found by any level of their place, implemented twice: `extra-item.ts` and `sparse-index.ts`. All
 * methods except `create`, `find` and `sensorsIn` reject if the sensor does not exist; writes are atomic.
 */
export interface SensorRegister {
  /** Rejects if the ID is in use. */
  create(sensor: Sensor): Promise<void>;
  /** Strongly consistent. */
  find(id: string): Promise<Sensor | undefined>;
  move(id: string, place: readonly string[]): Promise<void>;
  /** Changes attributes that lists show. */
  rename(id: string, name: string): Promise<void>;
  /** Changes attributes that lists do not show. */
  calibrate(id: string, at: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** The sensors at a place, of one name or more, and at all places below it. */
  sensorsIn(place: readonly [string, ...string[]], options: PageOptions): Promise<Page>;
}
