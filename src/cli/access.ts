import { Command, InvalidArgumentError, Option } from 'commander';

import { systemClock } from '../clock.js';
import { badInput } from '../errors.js';
import { PERIODS, type Budget } from '../model/budget.js';
import { readInstant } from '../model/instant.js';
import { QUOTA_NAMES, type Quotas } from '../model/quotas.js';
import type { KeyOptions } from './access/keys.js';
import { changing } from './changing.js';
import { interval, subcommands, withDatabase } from './session.js';

/** Collects `name=value` pairs. */
function variable(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [name]: value };
}

function budget(text: string): Budget {
  const [, units, name] = /^([1-9]\d{0,8})\/(\w+)$/.exec(text) ?? [];
  const per = PERIODS.find((period) => period === name);
  if (per !== undefined) return { units: Number(units), per };
  throw new InvalidArgumentError('Expected read units and a period, such as 5000/minute, 100000/hour or 1000000/day.');
}

function quota(text: string, before: Quotas = {}): Quotas {
  const [, given, most] = /^(\w+)=(\d{1,12})$/.exec(text) ?? [];
  const name = QUOTA_NAMES.find((known) => known === given);
  if (name !== undefined) return { ...before, [name]: Number(most) };
  throw new InvalidArgumentError(`Expected ${QUOTA_NAMES.join(', ')} and a number, such as collections=20.`);
}

/** An instant that is past, in milliseconds since 1970: a later one would refuse tokens that are yet to be issued. */
function pastTime(text: string): number {
  const allowed = 'a time that is past, such as 2026-11-30T12:00:00Z';
  const at = Date.parse(readInstant('--issued-before', text, allowed));
  if (at <= systemClock.wall()) return at;
  throw badInput('--issued-before', text, allowed);
}

const collect = (text: string, before: readonly string[] | undefined) => [...(before ?? []), text];
/** The work of the commands, which is loaded when one runs. */
const keys = () => import('./access/keys.js');
const rules = () => import('./access/rules.js');

function addKeyCommands(access: Command): void {
  const subcommand = subcommands(access.command('key').description('Create, list, replace and revoke API keys'));
  subcommand('create', 'Create an API key and print it; it is not shown again')
    .addOption(
      new Option('--role <role>', 'a role that the rules define; may be repeated')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'name of the key (default: its roles)')
    .option('--var <name=value>', 'value of the variable $name in the rules; may be repeated', variable)
    .option('--expires <interval>', 'how long the key is valid, such as 90d (default: for ever)', interval)
    .option(
      '--budget <units/period>',
      'read units that the key may use, such as 5000/minute (default: budget of its roles)',
      budget,
    )
    .option('--quota <name=number>', `${QUOTA_NAMES.join(', ')}; may be repeated (default: quotas of its roles)`, quota)
    .option('--json', 'print JSON')
    .action((options: KeyOptions) =>
      changing({ what: 'access key create' }, async (session) => (await keys()).createKey(session, options)),
    );
  subcommand('list', 'List API keys: their roles, when they expire, and when they were last used')
    .option('--json', 'print JSON')
    .action(({ json = false }: { readonly json?: boolean }) =>
      withDatabase(async (session) => (await keys()).printKeys(session, json)),
    );
  subcommand('rotate', 'Create an API key that replaces another, and print it; the old key remains valid for a while')
    .argument('<key>', 'name or ID of the key, or the key itself')
    .addOption(
      new Option('--overlap <interval>', 'how long the old key remains valid')
        .argParser(interval)
        .default(86_400_000, '1d'),
    )
    .option('--json', 'print JSON')
    .action((key: string, options: { readonly overlap: number; readonly json?: boolean }) =>
      changing({ what: 'access key rotate' }, async (session) => (await keys()).rotateKey(session, key, options)),
    );
  subcommand('revoke', 'Revoke an API key and end its subscriptions')
    .argument('<key>', 'name or ID of the key, or the key itself')
    .option('--json', 'print JSON')
    .action((key: string, { json = false }: { readonly json?: boolean }) =>
      changing({ what: 'access key revoke' }, async (session) => (await keys()).revokeKey(session, key, json)),
    );
}

export function accessCommand(): Command {
  const command = new Command('access').description(
    'Set rules and API keys: who may do what on servers with CELLPORT_AUTH=on. See docs/access.md',
  );
  const subcommand = subcommands(command);
  subcommand('set', 'Replace the access rules, and print what changes')
    .argument('<file>', 'JSON file with the rules')
    .option('--dry-run', 'only print what would change')
    .action((file: string, options: { readonly dryRun?: boolean }) =>
      options.dryRun === true
        ? withDatabase(async (session) => (await rules()).setRules(session, file, options))
        : changing({ what: 'access set' }, async (session) => (await rules()).setRules(session, file, options)),
    );
  subcommand('show', 'Print the access rules').action(() =>
    withDatabase(async (session) => (await rules()).showRules(session)),
  );
  addKeyCommands(command);
  subcommand('revoke', 'Revoke the tokens of a subject that were issued before now, or before another time')
    .requiredOption('--subject <subject>', 'the claim `sub` of the tokens')
    .option(
      '--issued-before <time>',
      'only tokens issued before this time, such as 2026-11-30T12:00:00Z (default: now)',
      pastTime,
    )
    .action(({ subject, issuedBefore }: { readonly subject: string; readonly issuedBefore?: number }) =>
      changing({ what: 'access revoke' }, async ({ database, call }) => {
        const { revokeSubject } = await import('../store/access/access-items.js');
        await revokeSubject(call, subject, issuedBefore ?? database.clock.wall());
        return [subject];
      }),
    );
  return command;
}
