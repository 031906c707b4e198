import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PolicyDocument } from 'aws-cdk-lib/aws-iam';

/** Cellport itself, built by `npm run build`. Tables and permissions are what it says: there is no second list of them. */
export const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

export type Role = 'http' | 'server' | 'consumer' | 'source' | 'admin';

/** A table as the request `CreateTable` has it, and the attribute by which its items expire. */
export interface Table {
  readonly request: { readonly TableName: string; readonly StreamSpecification?: object };
  readonly ttl: string;
}

function ask(...args: string[]): unknown {
  const main = `${DIST}cli/main.js`;
  if (!existsSync(main)) throw new Error('Cellport is not built: run `npm ci && npm run build` in its root first');
  return JSON.parse(execFileSync(process.execPath, [main, ...args], { encoding: 'utf8' }));
}

/** The two tables, the one with the stream first. */
export const tablesOf = (name: string) => ask('table', 'schema', '--table', name) as readonly [Table, Table];

/** What `cellport iam` prints for a role, for `PolicyDocument.fromJson`. */
export const policyOf = (role: Role, table: string) =>
  ask('iam', '--role', role, '--table', table) as ReturnType<PolicyDocument['toJSON']>;
