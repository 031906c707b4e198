import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: Buffer;
}

/** Sends a POST request and reads the whole response. */
export function post(
  agent: Agent,
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(pieces) }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The result of one round of requests. */
export interface Round {
  readonly answers: number;
  readonly seconds: number;
}

/** Sends the same request over several connections, each one after the previous response, until the time is up. */
export async function load(url: string, body: string, connections: number, ms: number): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let answers = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (performance.now() - began < ms) {
      const { status } = await post(agent, url, body);
      if (status !== 200) throw new Error(`${url} responded with status ${status}`);
      answers++;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
  return { answers, seconds: (performance.now() - began) / 1_000 };
}

/** Sends a request on a connection that is free. */
type Send = (answered: (status: number) => void, failed: (error: Error) => void) => void;

/**
 * A client with as little work of its own process as possible, so that it does not take the cores of the server: it only
 * counts the bytes of answers. It opens a connection whenever none is free.
 */
export class LightClient {
  readonly #host: string;
  readonly #port: number;
  readonly #sent: string;
  readonly #free = new Set<Send>();
  readonly #sockets: Socket[] = [];
  /** All connections read into it, one after the other. */
  readonly #buffer = Buffer.alloc(256 * 1024);

  /** A client that sends one request again and again. */
  constructor(url: string, body: string) {
    const { hostname, port, pathname } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json`;
    this.#sent = `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  /** Sends the request, and resolves to the status of its answer once that is complete. */
  send(): Promise<number> {
    const [send = this.#connect()] = this.#free;
    this.#free.delete(send);
    return new Promise(send);
  }

  #connect(): Send {
    let left = 0;
    let status = 0;
    let [answered, failed]: Parameters<Send> = [() => undefined, () => undefined];
    const callback = (bytes: number) => {
      if (left === 0) {
        const text = this.#buffer.toString('latin1', 0, Math.min(bytes, 2_048));
        const [all = '', code, length] = /^HTTP\/1.1 (\d+)[^]*?content-length: (\d+)[^]*?\r\n\r\n/i.exec(text) ?? [];
        if (code === undefined) failed(new Error(`not understood: ${text}`));
        status = Number(code);
        left = all.length + Number(length);
      }
      left -= bytes;
      if (left > 0) return true;
      this.#free.add(send);
      answered(status);
      return true;
    };
    const socket = connect({
      host: this.#host,
      port: this.#port,
      noDelay: true,
      onread: { buffer: this.#buffer, callback },
    });
    socket.on('error', (error) => failed(error));
    socket.on('close', () => {
      this.#free.delete(send);
      failed(new Error('the server closed the connection'));
    });
    this.#sockets.push(socket);
    const send: Send = (...ends) => {
      [answered, failed] = ends;
      socket.write(this.#sent);
    };
    return send;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** The same as `load` with a light client. */
export async function lightLoad(url: string, body: string, connections: number, ms: number): Promise<Round> {
  const client = new LightClient(url, body);
  const began = performance.now();
  let answers = 0;
  const one = async () => {
    while (performance.now() - began < ms) {
      const status = await client.send();
      if (status !== 200) throw new Error(`${url} responded with status ${status}`);
      answers++;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  client.close();
  return { answers, seconds: (performance.now() - began) / 1_000 };
}
