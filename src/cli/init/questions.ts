import { createInterface } from 'node:readline/promises';

import { badInput, mustBe } from '../../errors.js';
import { Interrupted } from '../failure.js';

/** By the name of its option, each question with what is allowed and the usual answer. */
const QUESTIONS = {
  table: {
    text: 'Which DynamoDB table has the places to show? Leave empty if Cellport should store them',
    allowed: 'the name of a table (3 to 255 letters, digits, `_`, `-`, `.`) or nothing',
    isAllowed: (answer: string) => /^([\w.-]{3,255})?$/.test(answer),
    usual: '',
  },
  database: {
    text: 'Where is DynamoDB: an AWS region, a URL, or local (in a container)?',
    allowed: 'a region such as eu-central-1, a URL such as http://127.0.0.1:8000, or local',
    isAllowed: (answer: string) => /^(local|https?:\/\/[\w.-]+(:\d{1,5})?\/?|[a-z]{2}(-[a-z]+)+-\d)$/.test(answer),
    usual: 'local',
  },
  port: {
    text: 'On which port of this machine should the map be?',
    allowed: 'a whole number from 1 to 65535',
    isAllowed: (answer: string) => /^[1-9]\d{0,4}$/.test(answer) && Number(answer) <= 65_535,
    usual: '4000',
  },
};
const NAMES = ['table', 'database', 'port'] as const;
export type Answers = Readonly<Record<(typeof NAMES)[number], string>>;

/**
 * What is given, or else usual; if nothing is given, what the terminal answers. Throws BAD_USER_INPUT, or Interrupted if the
 * terminal is closed.
 */
export async function answersTo(given: Partial<Answers>): Promise<Answers> {
  const asks = process.stdin.isTTY && NAMES.every((name) => given[name] === undefined);
  const terminal = asks ? createInterface({ input: process.stdin, output: process.stderr }) : undefined;
  // Unlike `terminal.question`, this keeps lines that come together, as if they are pasted.
  const lines = terminal?.[Symbol.asyncIterator]();
  const answers: Partial<Record<keyof Answers, string>> = {};
  for (const name of NAMES) {
    const { text, allowed, isAllowed, usual } = QUESTIONS[name];
    for (let answer: string | undefined; answer === undefined || !isAllowed(answer);) {
      if (answer !== undefined) console.error(mustBe('the answer', allowed, answer));
      terminal?.setPrompt(`${text} [${usual}] `);
      terminal?.prompt();
      const said = await lines?.next();
      if (said?.done) {
        // The prompt may have resumed it after its end.
        process.stdin.pause();
        throw new Interrupted('nothing was written');
      }
      answer = (lines ? said?.value : given[name])?.trim() || usual;
      if (!terminal && !isAllowed(answer)) throw badInput(`--${name}`, answer, allowed);
      answers[name] = answer;
    }
  }
  terminal?.close();
  return answers as Answers;
}
