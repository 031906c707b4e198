import { CellportError, type ErrorCode } from '../../errors.js';

/** The functions that a process offers to the other one, by name. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Offered<T> = { readonly [Name in keyof T]: (...args: any[]) => unknown };
type ArgumentsOf<F> = F extends (...args: infer Arguments) => unknown ? Arguments : never;
type ResultOf<F> = F extends (...args: never[]) => infer Result ? Awaited<Result> : never;

interface Failure {
  /** Undefined for a bug. */
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly details: CellportError['details'];
}

/** A call, with an ID if it is to be answered, or the answer to the call with an ID. */
export type Message =
  | { readonly call: string; readonly args: readonly unknown[]; readonly id?: number }
  | { readonly answered: number; readonly value?: unknown; readonly failure?: Failure };

function failureOf(error: unknown): Failure {
  const { code, details = {} } = error instanceof CellportError ? error : {};
  return { code, message: error instanceof Error ? error.message : String(error), details };
}

const errorOf = ({ code, message, details }: Failure) =>
  code === undefined ? new Error(message) : new CellportError(code, message, details);

const CLOSED = new CellportError('UNAVAILABLE', 'another process of the server has ended; try again');

/**
 * Calls of functions between two processes, in order in each direction. What is called in one step is sent together. A
 * `CellportError` arrives as such.
 */
export class Channel<Theirs extends Offered<Theirs>> {
  readonly #send: (messages: readonly Message[]) => void;
  readonly #asked = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #waiting: Message[] = [];
  #ours: Readonly<Record<string, (...args: readonly never[]) => unknown>> = {};
  #lastId = 0;
  #isClosed = false;

  /** Whether the other process has ended. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  constructor(send: (messages: readonly Message[]) => void) {
    this.#send = send;
  }

  /** Offers functions to the other process; calls of others are ignored. */
  offer<Ours extends Offered<Ours>>(ours: Ours): void {
    this.#ours = ours;
  }

  /** Calls a function without waiting for it. */
  tell<Name extends keyof Theirs & string>(call: Name, ...args: ArgumentsOf<Theirs[Name]>): void {
    this.#post({ call, args });
  }

  /** The result of a function. Rejects with its error, or with UNAVAILABLE if the other process ends. */
  ask<Name extends keyof Theirs & string>(
    call: Name,
    ...args: ArgumentsOf<Theirs[Name]>
  ): Promise<ResultOf<Theirs[Name]>> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(CLOSED);
      const id = (this.#lastId += 1);
      this.#asked.set(id, { resolve, reject });
      this.#post({ call, args, id });
    });
  }

  /** Takes what the other process has sent. */
  receive(messages: readonly Message[]): void {
    for (const message of messages) {
      if ('call' in message) this.#call(message);
      else this.#answered(message);
    }
  }

  /** To be called when the other process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#asked.values()) reject(CLOSED);
    this.#asked.clear();
  }

  #post(message: Message): void {
    if (this.#isClosed) return;
    this.#waiting.push(message);
    if (this.#waiting.length > 1) return;
    queueMicrotask(() => {
      const messages = this.#waiting;
      this.#waiting = [];
      if (!this.#isClosed) this.#send(messages);
    });
  }

  #call({ call, args, id }: Extract<Message, { call: string }>): void {
    const run = async () => this.#ours[call]?.(...(args as readonly never[]));
    if (id === undefined) void run();
    else
      run().then(
        (value) => this.#post({ answered: id, value }),
        (error: unknown) => this.#post({ answered: id, failure: failureOf(error) }),
      );
  }

  #answered({ answered: id, value, failure }: Extract<Message, { answered: number }>): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (failure === undefined) asked?.resolve(value as never);
    else asked?.reject(errorOf(failure));
  }
}
