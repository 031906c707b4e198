import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { writeToFile, writeToStream } from '../../src/ingest/export/output.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellport-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

const { signal: never } = new AbortController();

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

async function* thenFails(): AsyncGenerator<string> {
  yield 'half';
  throw new Error('no more');
}

describe('a file', () => {
  test('appears when it is complete, and not before', async () => {
    const path = join(folder, 'out.csv');
    let seen: string[] = [];
    async function* slowly(): AsyncGenerator<string> {
      yield 'a';
      yield 'b';
      seen = await readdir(folder);
    }
    await writeToFile(path, slowly(), never);
    expect(seen).toEqual([expect.stringMatching(/^out\.csv\..*\.part$/)]);
    expect(await readdir(folder)).toEqual(['out.csv']);
    expect(await readFile(path, 'utf8')).toBe('ab');
  });

  test('stays unchanged, without leftovers, if writing fails or is stopped', async () => {
    const path = join(folder, 'out.csv');
    await writeFile(path, 'before');
    await expect(writeToFile(path, thenFails(), never)).rejects.toThrow('no more');
    const stop = new AbortController();
    async function* endless(): AsyncGenerator<string> {
      for (;;) {
        yield 'x'.repeat(1000);
        stop.abort(new Error('stopped'));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    await expect(writeToFile(path, endless(), stop.signal)).rejects.toThrow('stopped');
    expect(await readdir(folder)).toEqual(['out.csv']);
    expect(await readFile(path, 'utf8')).toBe('before');
  });

  test('at the end of a link is replaced, and the link stays', async () => {
    const [path, link] = [join(folder, 'real.csv'), join(folder, 'link.csv')];
    await writeFile(path, 'before');
    await symlink(path, link);
    await writeToFile(link, pieces('after'), never);
    expect(await readlink(link)).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('after');
  });

  test('that is a device or a pipe is written directly', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [text] = await Promise.all([readFile(pipe, 'utf8'), writeToFile(pipe, pieces('a', 'b'), never)]);
    expect(text).toBe('ab');
    expect(await readdir(folder)).toEqual(['pipe']);
  });

  test.runIf(existsSync('/dev/full'))('is named if its disk is full', async () => {
    const written = writeToFile('/dev/full', pieces('x'), never);
    await expect(written).rejects.toThrow("ENOSPC: no space left on device, write '/dev/full'");
  });

  test('cannot be a folder or be in a missing one, and then nothing is read', async () => {
    let asked = 0;
    async function* counting(): AsyncGenerator<string> {
      asked += 1;
      yield 'a';
    }
    await expect(writeToFile(folder, counting(), never)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(asked).toBe(0);
    await expect(writeToFile(join(folder, 'no', 'out'), counting(), never)).rejects.toThrow('ENOENT');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a stream', () => {
  test('that is blocked receives no more than fits in its buffer', async () => {
    let made = 0;
    async function* endless(): AsyncGenerator<string> {
      for (;;) yield String((made += 1)).padEnd(1000);
    }
    const stop = new AbortController();
    // Never calls back that it has written anything.
    const stuck = new Writable({ write: () => undefined });
    const writing = writeToStream(stuck, endless(), stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(made).toBe(1);
    stop.abort(new Error('stopped'));
    await expect(writing).rejects.toThrow('stopped');
  });

  test('is left open', async () => {
    const got: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write: (piece: string, _encoding, done) => {
        got.push(piece);
        done();
      },
    });
    await writeToStream(stream, pieces('a', 'b'), never);
    await writeToStream(stream, pieces('c'), never);
    expect(got).toEqual(['a', 'b', 'c']);
    expect(stream.writable).toBe(true);
  });
});
