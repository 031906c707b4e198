import { STALE_AFTER_MS } from '../model/limits.js';
import type { PublishedWrites, StreamState } from '../store/cell/stream-state.js';
import type { KeptTrust } from '../store/reading/kept-summaries.js';
import { LAG_MS } from './followed-cache.js';

/** The consumer's progress, as far as readers depend on it. */
export interface ConsumerReport extends Pick<StreamState, 'pages' | 'gap' | 'summariesSince'> {
  readonly formerPages?: StreamState['formerPages'];
  readonly published?: StreamState['published'];
  readonly written?: StreamState['written'];
  /** The last batch that all pages are known to include. */
  readonly complete: number;
  /** When everything in the stream was last known to be complete, in milliseconds since 1970; null if unknown. */
  readonly endAt: number | null;
}

/** Pages that may be read. */
export interface TrustedPages {
  readonly generation: string;
  /** The last batch that even a lagging read finds in all pages. */
  readonly complete: number;
  /** Pages include everything written by this time, in milliseconds since 1970; 0 if it is unknown. */
  readonly endAt: number;
  /** What must be laid over the pages for that; omitted if nothing must. */
  readonly published?: PublishedWrites;
  /** The same, but before a gap; omitted for pages that are current. */
  readonly asOf?: number;
}

/** See `TrustedPages`. */
export type Lacking = Required<Pick<TrustedPages, 'generation' | 'complete' | 'published'>>;

/** Summaries of readings that may be read. */
export interface TrustedSummaries extends KeptTrust {
  /** Those of collections created before are incomplete, in milliseconds since 1970. */
  readonly since: number;
}

export interface ConsumerTrustOptions {
  /** This process's own report, if it runs the consumer. */
  readonly own: () => ConsumerReport | undefined;
  /** Reads the stored report; undefined if there is none. */
  readonly stored: () => Promise<ConsumerReport | undefined>;
  /** DynamoDB's time in milliseconds since 1970, by which the owner of the report goes, too. */
  readonly wall: () => number;
}

/** A report, and when it was current. */
interface Look {
  readonly report: ConsumerReport;
  readonly at: number;
  /** Whether everything written until a moment before was applied. */
  readonly current: boolean;
}

const isCurrent = (endAt: number, at: number) => Math.abs(at - endAt) <= STALE_AFTER_MS;

/** Blocks are read, and cached, for some seconds as they were before a batch was applied. */
const LACKING_MS = 10_000;

/** Minimum interval between reads of the stored report. */
const READ_EVERY_MS = 250;

/**
 * Decides whether what the stream's consumer keeps may be read: pages instead of the geo index, and summaries instead of
 * readings. Every server can: the one that runs the consumer knows, and any other reads the report, which its owner renews
 * each second.
 */
export class ConsumerTrust {
  readonly #options: ConsumerTrustOptions;
  #report: { at: number; readonly read: Promise<ConsumerReport | undefined> } | undefined;
  /** Complete batches, and when this was learned; oldest first. */
  readonly #complete: { readonly batch: number; readonly at: number }[] = [];

  constructor(options: ConsumerTrustOptions) {
    this.#options = options;
  }

  /** The pages to read; undefined if the geo index must be used. */
  async pages(): Promise<TrustedPages | undefined> {
    const found = await this.#look();
    if (found === undefined) return undefined;
    const { pages, endAt, published, gap } = found.report;
    const complete = this.#aged(found.report.complete);
    if (pages === null || gap !== null) return undefined;
    if (endAt !== null && found.current) return { generation: pages.generation, complete, endAt };
    if (!published || !isCurrent(published.endAt, found.at)) return undefined;
    return { generation: pages.generation, complete, endAt: published.endAt, published };
  }

  /** The pages, however far they are behind, for collections without an index; undefined if there have never been any. */
  async lastPages(): Promise<TrustedPages | undefined> {
    // An error is told: that the report cannot be read does not mean that there are no pages.
    const report = this.#options.own() ?? (await this.#stored());
    if (report === undefined) return undefined;
    const { pages, formerPages, complete, gap } = report;
    const { generation, endAt } = pages ? { ...pages, endAt: report.endAt } : (formerPages ?? {});
    if (generation === undefined) return undefined;
    const later = report.published && report.published.endAt > (endAt ?? 0) ? report.published : undefined;
    const end = later?.endAt ?? endAt ?? 0;
    const asOf = Math.min(end, gap ? Date.parse(gap.since) : Infinity);
    return { generation, complete: this.#aged(complete), endAt: end, asOf, ...(later && { published: later }) };
  }

  /** What must be laid over blocks of cells; undefined if these are complete, or nothing is known. */
  async lacking(): Promise<Lacking | undefined> {
    const report = this.#options.own() ?? (await this.#stored().catch(() => undefined));
    if (!report?.pages || !report.published) return undefined;
    const { pages, published, endAt, complete } = report;
    if ((endAt ?? 0) - published.endAt > LACKING_MS) return undefined;
    return { generation: pages.generation, complete: this.#aged(complete), published };
  }

  /** A time, in milliseconds since 1970, up to which pages include everything; null before there are any. */
  async asOf(): Promise<number | null> {
    return (await this.lastPages())?.asOf ?? null;
  }

  /** What the consumer says of the summaries of readings that it keeps; undefined if they must not be used. */
  async summaries(): Promise<TrustedSummaries | undefined> {
    const found = await this.#look();
    const { gap = null, summariesSince = null } = found?.report ?? {};
    if (found === undefined || summariesSince === null) return undefined;
    const finalBefore = gap === null ? Infinity : Date.parse(gap.since);
    return { since: summariesSince, current: found.current, finalBefore };
  }

  async #look(): Promise<Look | undefined> {
    const own = this.#options.own();
    // Without a report, nothing that the consumer keeps is read.
    const report = own ?? (await this.#stored().catch(() => undefined));
    if (report === undefined) return undefined;
    const { gap, endAt } = report;
    // A stored report was current when it was read, and is used until the next read is due.
    const at = own ? this.#options.wall() : (this.#report?.at ?? -Infinity);
    return { report, at, current: gap === null && endAt !== null && isCurrent(endAt, at) };
  }

  /** Forces the next call to read the report again, because it may be outdated. */
  forget(): void {
    this.#report = undefined;
  }

  #stored(): Promise<ConsumerReport | undefined> {
    const { stored, wall } = this.#options;
    if (this.#report && Math.abs(wall() - this.#report.at) < READ_EVERY_MS) return this.#report.read;
    const read = stored();
    const report = { at: wall(), read };
    this.#report = report;
    // The answer may have set the clock.
    const noted = () => (report.at = wall());
    read.then(noted, () => this.forget());
    return read;
  }

  /** The last complete batch that was known so long ago that no read lags behind it; -1 if none was. */
  #aged(batch: number): number {
    const now = this.#options.wall();
    if (batch !== this.#complete.at(-1)?.batch) this.#complete.push({ batch, at: now });
    const aged = this.#complete.findLastIndex(({ at }) => now - at >= LAG_MS);
    if (aged > 0) this.#complete.splice(0, aged);
    return aged < 0 ? -1 : (this.#complete[0]?.batch ?? -1);
  }
}
