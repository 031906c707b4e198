import type { Database } from '../../src/store/database.js';

export interface RecordedCommand {
  /** DynamoDB's name of the operation, for example `Query`, `PutItem` or `BatchGetItem`. */
  readonly name: string;
  /** Plain values, in the form that lib-dynamodb takes. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Recording {
  readonly commands: readonly RecordedCommand[];
  /** The number of commands sent with this name, for example `count('Query')`; of all commands without a name. */
  count(name?: string): number;
  reset(): void;
}

/** Records every command sent to this database from now on, without retries. */
export function recordCalls({ client }: Pick<Database, 'client'>): Recording {
  const commands: RecordedCommand[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      // A deep copy: lib-dynamodb replaces our values by wire values further down.
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
