import { Command } from 'commander';

import { CellportError } from '../errors.js';
import { hintFor } from './failure.js';
import { printable } from './progress.js';

const LABELS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const;

async function run(json: boolean): Promise<void> {
  const { readConfig, silenceSdkAdvice } = await import('../config.js');
  silenceSdkAdvice();
  const { examine } = await import('../server/doctor.js');
  const findings = await examine(readConfig(), hintFor);
  if (json) console.log(JSON.stringify(findings, null, 2));
  else
    for (const { verdict, what, found, advice } of findings) {
      console.log(
        printable(`${LABELS[verdict]}  ${what}: ${found}${advice === undefined ? '' : `\n         → ${advice}`}`),
      );
    }
  const problems = findings.filter(({ verdict }) => verdict === 'problem').length;
  if (problems > 0)
    throw new CellportError('UNAVAILABLE', problems === 1 ? 'there is a problem' : `there are ${problems} problems`);
}

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check settings, permissions, tables, stream, clock and releases, and say what to do; writes nothing')
    .option('--json', 'print JSON')
    .action(({ json = false }: { readonly json?: boolean }) => run(json));
}
