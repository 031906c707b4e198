import { Agent, request, type IncomingHttpHeaders } from 'node:http';

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
