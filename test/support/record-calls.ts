import type { Database } from '../../src/store/database.js';

export interface RecordedCommand {
  /** As DynamoDB names its operation, e.g. `Query`, `PutItem`, `BatchGetItem`. */
  readonly name: string;
  /** Plain values, as lib-dynamodb takes them. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Recording {
  readonly commands: readonly RecordedCommand[];
  /** How many commands of this name were sent, e.g. `count('Query')`; of all names where it is left out. */
  count(name?: string): number;
  reset(): void;
}

/** Writes down every command that this database is sent from now on, retries not counted. */
export function recordCalls({ client }: Pick<Database, 'client'>): Recording {
  const commands: RecordedCommand[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      // Deep, because lib-dynamodb puts wire values in place of ours further down.
      commands.push({
        name: String(context.commandName).replace(/Command$/, ''),
        input: structuredClone(args.input) as RecordedCommand['input'],
      });
      return next(args);
    },
    { step: 'initialize', priority: 'high', name: `record-${Math.random()}` },
  );
  return {
    commands,
    count: (name) => commands.filter((command) => name === undefined || command.name === name).length,
    reset: () => {
      commands.length = 0;
    },
  };
}
