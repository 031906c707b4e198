import { expect, test } from 'vitest';

import { CellportError } from '../../../src/errors.js';
import { Channel } from '../../../src/server/workers/channel.js';

interface Calls {
  add(a: number, b: number): number;
  note(text: string): void;
  fail(code?: 'NOT_FOUND'): void;
}

/** Two ends of a channel. What one of them offers is called by the other. */
function connected() {
  const sent: number[] = [];
  const noted: string[] = [];
  const ours: Channel<Calls> = new Channel((messages) => {
    sent.push(messages.length);
    theirs.receive(messages);
  });
  const theirs: Channel<Calls> = new Channel((messages) => ours.receive(messages));
  theirs.offer<Calls>({
    add: (a, b) => a + b,
    note: (text) => void noted.push(text),
    fail(code) {
      throw code ? new CellportError(code, 'no such marker', { key: 'a' }) : new TypeError('a bug');
    },
  });
  return { ours, sent, noted };
}

test('calls arrive in order, those of one step together, and answers go to those who asked', async () => {
  const { ours, sent, noted } = connected();
  ours.tell('note', 'a');
  const sums = [ours.ask('add', 1, 2), ours.ask('add', 3, 4)];
  ours.tell('note', 'b');
  expect(await Promise.all(sums)).toEqual([3, 7]);
  expect([noted, sent]).toEqual([['a', 'b'], [4]]);
});

test('errors that clients may see arrive with their code and details, bugs without', async () => {
  const { ours } = connected();
  const expected = { name: 'CellportError', code: 'NOT_FOUND', message: 'no such marker', details: { key: 'a' } };
  await expect(ours.ask('fail', 'NOT_FOUND')).rejects.toMatchObject(expected);
  const bug = await ours.ask('fail').catch((error: unknown) => error);
  expect(bug).not.toBeInstanceOf(CellportError);
  expect(bug).toMatchObject({ message: 'a bug' });
});

test('nobody waits for a process that has ended', async () => {
  const unheard = new Channel<Calls>(() => undefined);
  const asked = unheard.ask('add', 1, 2);
  unheard.close();
  await expect(asked).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(unheard.ask('add', 1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
