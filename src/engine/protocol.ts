/** Where a keeper listens on the loopback interface, and the token that its users must send. */
export interface KeeperAddress {
  readonly port: number;
  readonly token: string;
}

/** The one line that a keeper prints for the process that started it: its own address or the running keeper's. */
export type KeeperGreeting = KeeperAddress | { readonly error: string };

/**
 * The one line that a keeper sends on each connection, once the engine is ready or has failed. On `stopping`, retry.
 */
export type KeeperAnswer =
  | { readonly state: 'ready'; readonly endpoint: string; readonly region: string; readonly accessKey: string }
  | { readonly state: 'stopping' }
  | { readonly state: 'failed'; readonly error: string };

const LONGEST_LINE = 10_000;

/** Parses a line as JSON; undefined if it is not JSON. A killed process may leave half a line. */
export function parseLine<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T;
  } catch {
    return undefined;
  }
}

/** The first line of a stream, parsed as JSON; undefined if the stream ends first or the line is not JSON. */
export function firstLine<T>(stream: NodeJS.ReadableStream): Promise<T | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (value: T | undefined) => {
      stream.off('data', take).off('end', end).off('close', end).off('error', end);
      resolve(value);
    };
    const end = () => finish(undefined);
    const take = (chunk: Buffer | string) => {
      text += chunk.toString();
      const newline = text.indexOf('\n');
      if (newline < 0 && text.length < LONGEST_LINE) return;
      finish(parseLine(text.slice(0, newline)));
    };
    stream.on('data', take).on('end', end).on('close', end).on('error', end);
  });
}
