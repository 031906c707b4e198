/** What AWS would ask IAM about the requests that are made. */

interface Request {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly StreamArn?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
  readonly Statements?: readonly { readonly Statement: string }[];
}

/** An action on a resource, such as `dynamodb:Query table/places/index/geoA`. */
export type Permission = `dynamodb:${string} ${string}`;

const STREAMS = ['DescribeStream', 'GetShardIterator', 'GetRecords'];
/** In transactions, each part is asked about on its own. */
const PART: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** The permissions that a request of DynamoDB's needs. An iterator of a stream does not tell whose it is. */
export function permissionsFor(operation: string, json: string): Permission[] {
  const request = JSON.parse(json) as Request;
  const on = (action: string, table: string): Permission => `dynamodb:${action} table/${table}`;
  if (operation === 'ListTables') return ['dynamodb:ListTables *'];
  if (STREAMS.includes(operation)) {
    const [, stream = 'table/?/stream/?'] = /:(table\/.*)$/.exec(request.StreamArn ?? '') ?? [];
    return [`dynamodb:${operation} ${stream}`];
  }
  if (request.TransactItems) {
    return request.TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, { TableName }]) => on(PART[kind] ?? kind, TableName)),
    );
  }
  if (request.Statements) {
    return request.Statements.map(({ Statement }) => {
      const [, verb = '', table = ''] = /^(INSERT|UPDATE|DELETE|SELECT)\b[^"]*"([^"]+)"/i.exec(Statement) ?? [];
      return on(`PartiQL${verb.charAt(0).toUpperCase()}${verb.slice(1).toLowerCase()}`, table);
    });
  }
  if (request.RequestItems) return Object.keys(request.RequestItems).map((table) => on(operation, table));
  const index = request.IndexName === undefined ? '' : `/index/${request.IndexName}`;
  return [on(operation, `${request.TableName ?? '?'}${index}`) as Permission];
}

export interface Policy {
  readonly Statement: readonly { readonly Action: readonly string[]; readonly Resource: readonly string[] }[];
}

/** What a policy allows, a pattern for each: `*` stands for any characters. */
export function permissionsIn({ Statement }: Policy): Permission[] {
  return Statement.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) =>
      Resource.map((resource) => `${action} ${resource.replace(/^arn:aws:dynamodb:\*:\*:/, '')}` as Permission),
    ),
  );
}

/** Whether a pattern of a policy allows what was needed. */
export function allows(pattern: Permission, needed: Permission): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return (
    new RegExp(`^${parts.join('.*')}$`).test(needed) ||
    (needed.includes('table/?') && pattern.includes('/stream/') && pattern.split(' ')[0] === needed.split(' ')[0])
  );
}
