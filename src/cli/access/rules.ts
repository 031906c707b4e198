import { readRules, type AccessRules } from '../../access/rules.js';
import { quotaTexts } from '../../model/quotas.js';
import { storedRules, storeRules } from '../../store/access/access-items.js';
import { readJsonFile } from '../json-file.js';
import { printable } from '../progress.js';
import type { CommandSession } from '../session.js';

/** A line for each rule. */
function linesOf(rules: AccessRules | undefined): string[] {
  const roles = Object.entries(rules?.roles ?? {}).flatMap(([name, { rules: each, budget, quotas }]) => [
    ...each.map(({ collections, may, where, hide }) => {
      const rows = where === undefined ? '' : ` where ${JSON.stringify(where)}`;
      const hidden = hide.length === 0 ? '' : ` without ${hide.join(', ')}`;
      return `${name}: ${may.join(', ')} ${collections.join(', ')}${rows}${hidden}`;
    }),
    ...(budget ? [`${name}: ${budget.units} units a ${budget.per}`] : []),
    ...quotaTexts(quotas).map((quota) => `${name}: ${quota}`),
  ]);
  const { jwt } = rules ?? {};
  if (jwt === undefined) return roles;
  const keys = typeof jwt.jwks === 'string' ? jwt.jwks : `${jwt.jwks.keys.length} keys`;
  return [...roles, `tokens of ${jwt.issuer} for ${jwt.audience}, verified by ${keys}`];
}

const parsed = (json: string | undefined) => (json === undefined ? undefined : readRules(JSON.parse(json)));

/** Replaces the rules by those of a file, and prints what changes; with `dryRun`, only prints. */
export async function setRules(
  { call }: CommandSession,
  path: string,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<undefined> {
  const { json, value } = await readJsonFile(path, readRules);
  const before = linesOf(parsed((await storedRules(call))?.json));
  const after = linesOf(value);
  for (const line of before) if (!after.includes(line)) console.log(printable(`- ${line}`));
  for (const line of after) if (!before.includes(line)) console.log(printable(`+ ${line}`));
  if (!dryRun) await storeRules(call, json);
  console.error(
    dryRun ? 'Nothing was changed.' : 'The rules are in force on every server with CELLPORT_AUTH=on within a second.',
  );
}

/** Prints the rules as they were set. */
export async function showRules({ call }: CommandSession): Promise<void> {
  const { json } = (await storedRules(call)) ?? {};
  if (json === undefined)
    console.error('There are no rules yet. Write some, as docs/access.md shows, and run `cellport access set FILE`.');
  else console.log(JSON.stringify(JSON.parse(json), null, 2));
}
