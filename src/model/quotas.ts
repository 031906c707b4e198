/** Collections that one may administer; markers of one collection and their bytes, whoever wrote them; those of one marker. */
export const QUOTA_NAMES = ['collections', 'markersPerCollection', 'bytesPerCollection', 'bytesPerMarker'] as const;
export const MOST_OF_A_QUOTA = 1e12;

/** For whoever has used up a quota. */
export const QUOTA_ADVICE = 'delete some, or let its operator raise your quota';

/** What somebody may create and have; only what is named is limited. */
export type Quotas = { readonly [Name in (typeof QUOTA_NAMES)[number]]?: number | undefined };

/** The largest of each quota. */
export const largestQuotas = (all: readonly Quotas[]): Quotas =>
  Object.fromEntries(
    QUOTA_NAMES.flatMap((name) => {
      const given = all.flatMap((quotas) => quotas[name] ?? []);
      return given.length === 0 ? [] : [[name, Math.max(...given)]];
    }),
  );

/** As in a command line: `collections=20`. */
export const quotaTexts = (quotas: Quotas = {}): string[] =>
  Object.entries(quotas).map(([name, most]) => `${name}=${most}`);
