import type { ServerClock } from '../clock.js';
import type { ClockReadiness } from '../http/health.js';
import type { Log } from '../log.js';

/** A difference that a synchronized machine does not have. Pages are trusted for two seconds. */
const REPORTED_MS = 1_000;
const CHECK_EVERY_MS = 5_000;

const secondOf = (time: number) => `${new Date(time).toISOString().slice(0, -5)}Z`;

function warningOf(clock: ServerClock, aheadMs: number | null | undefined): string | null {
  if (aheadMs === null) {
    return (
      "the database's answers have no Date header, so this server goes by its machine's clock: keep the clocks of all " +
      'servers within a second (NTP), or maps read the geo index, which costs more'
    );
  }
  if (aheadMs === undefined || Math.abs(aheadMs) < REPORTED_MS) return null;
  const time = clock.wall();
  return (
    `this machine's clock says ${secondOf(time + aheadMs)}, DynamoDB's ${secondOf(time)}: this server goes by DynamoDB's; ` +
    "set the machine's (NTP), because requests to AWS are signed with it"
  );
}

/** How the machine's clock compares with DynamoDB's. */
export function clockReadiness(clock: ServerClock): ClockReadiness {
  const aheadMs = clock.machineAhead();
  return { aheadMs: aheadMs ?? null, warning: warningOf(clock, aheadMs) };
}

/** Logs each time that the machine's clock begins to differ from DynamoDB's. Returns the function that stops it. */
export function watchClock(clock: ServerClock, log: Log): () => void {
  let warned = false;
  const timer = setInterval(() => {
    const { aheadMs, warning } = clockReadiness(clock);
    if (warning !== null && !warned) log.warn({ aheadMs }, warning);
    warned = warning !== null;
  }, CHECK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
