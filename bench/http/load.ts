import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

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

/**
 * The same with as little work of this process as possible, so that it does not take the cores of the server: it only
 * counts the bytes of answers.
 */
export async function lightLoad(url: string, body: string, connections: number, ms: number): Promise<Round> {
  const { hostname: host, port, pathname } = new URL(url);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}:${port}\r\ncontent-type: application/json`;
  const sent = `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const buffer = Buffer.alloc(256 * 1024);
  const began = performance.now();
  let answers = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      let left = 0;
      const callback = (bytes: number) => {
        if (left === 0) {
          const answer = buffer.toString('latin1', 0, Math.min(bytes, 2_048));
          const [all = '', status, length] =
            /^HTTP\/1.1 (\d+)[^]*?content-length: (\d+)[^]*?\r\n\r\n/i.exec(answer) ?? [];
          if (status !== '200') reject(new Error(`${url} responded with ${answer}`));
          left = all.length + Number(length);
        }
        left -= bytes;
        if (left > 0) return true;
        answers++;
        if (performance.now() - began < ms) socket.write(sent);
        else socket.end(resolve);
        return true;
      };
      const socket = connect({ host, port: Number(port), onread: { buffer, callback } }, () => socket.write(sent));
      socket.on('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, one));
  return { answers, seconds: (performance.now() - began) / 1_000 };
}
