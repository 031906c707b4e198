/** Where a keeper listens on the loopback interface, and the token that its users have to send. */
export interface KeeperAddress {
  readonly port: number;
  readonly token: string;
}

/** The keeper's one line to the process that started it: its own address, or that of the keeper already running. */
export type KeeperGreeting = KeeperAddress | { readonly error: string };

/** The keeper's one line to each connection: the engine once it is ready, or that the keeper is stopping: retry. */
export type KeeperAnswer =
  | { readonly state: 'ready'; readonly endpoint: string; readonly region: string; readonly accessKey: string }
  | { readonly state: 'stopping' }
  | { readonly state: 'failed'; readonly error: string };

const LONGEST_LINE = 10_000;

/** The first line of a stream, parsed as JSON; undefined where the stream ends before it or it is not JSON. */
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
      try {
        finish(JSON.parse(text.slice(0, newline)) as T);
      } catch {
        finish(undefined);
      }
    };
    stream.on('data', take).on('end', end).on('close', end).on('error', end);
  });
}
