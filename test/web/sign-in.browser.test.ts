import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { hashOfKey } from '../../src/access/api-key.js';
import { removeKey, storedKey } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { createKey, guardedServer, setRules, type GuardedServer } from '../access/guarded-server.js';
import { inTurn } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { accessibilityFaults } from './accessibility.js';
import { drawSlowly, hasChromium, keep, openBrowser, SMALL } from './browser.js';

const ADMIN = [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }];
const EDITOR = [
  { collections: ['parks'], may: ['read', 'write'] },
  { collections: ['shops'], may: ['read'] },
];
const READER = [{ collections: ['parks'], may: ['read'] }];

describe.skipIf(!hasChromium)('signing in', async () => {
  const db = await testDatabase('readable', { stream: true });
  let browser: Browser;
  let context: BrowserContext;
  let server: GuardedServer;
  let admin: string;
  let page: Page;

  beforeAll(async () => {
    server = await guardedServer(db, undefined);
    browser = await openBrowser();
    context = await browser.newContext({ ...SMALL, reducedMotion: 'reduce' });
    await drawSlowly(context);
    page = await context.newPage();
    page.setDefaultTimeout(50_000);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const dialog = () => page.locator('dialog.sign-in');
  const who = () => page.locator('#who');
  const tool = (name: string) => page.getByRole('button', { name, exact: true });

  async function signIn(secret: string): Promise<void> {
    await dialog().locator('input').fill(secret);
    await dialog().locator('button[type=submit]').click();
  }

  it('is asked for where nobody may see anything without, and says what is wrong with a key', async () => {
    await page.goto(server.url);
    await page.getByText('there are no access rules yet').waitFor();
    await setRules(db, { roles: { admin: ADMIN, editor: EDITOR } });
    await dialog().waitFor();
    expect(await page.getByText('there are no access rules yet').isVisible()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await signIn(`cpk_${'x'.repeat(43)}`);
    await dialog().getByText('The API key is unknown or revoked').waitFor();
    admin = await createKey(db, { roles: ['admin'], name: 'City office' });
    await signIn(admin);
    await who().getByText('City office').waitFor();
    await page.getByText('This server has no collections yet').waitFor();
    expect(await tool('Edit').isVisible()).toBe(true);
  });

  it('offers only what is allowed: an editor edits one collection and creates none', async () => {
    for (const key of ['parks', 'shops']) {
      const mutation = `mutation { createCollection(input: { key: "${key}", name: "${key}" }) { id } ${key}: createMarker(input: { collection: "${key}", key: "a", name: "One of ${key}", position: { lng: 1, lat: 2 } }) { id } }`;
      expect((await server.ask(mutation, {}, { 'x-api-key': admin })).errors).toEqual([]);
    }
    const editor = await createKey(db, { roles: ['editor'], name: 'Ann' });
    await who().click();
    await keep(page, 'signed-in');
    await signIn(editor);
    await who().getByText('Ann').waitFor();
    await page.locator('#layers').getByText('shops').waitFor();
    expect(await page.locator('#layers .more button').allTextContents()).toEqual(['Import a file']);
    expect(await tool('Explain: what this view reads').isVisible()).toBe(false);
    await who().click();
    expect(await dialog().locator('li').allTextContents()).toEqual(['parks: read, write', 'shops: read']);
    await dialog().getByText('Close').click();
    await tool('Edit').click();
    // The only collection to add to, so that there is no choice.
    await page.locator('#edit').getByText('Add at center').click();
    await page.locator('#card').getByText('parks').waitFor();
  });

  it('follows the rules while the page is open, and asks again once the key is revoked', async () => {
    await setRules(db, { roles: { admin: ADMIN, editor: READER, anonymous: READER } });
    await page.locator('#layers').getByText('shops').waitFor({ state: 'detached' });
    await tool('Edit').waitFor({ state: 'hidden' });
    expect(await page.locator('#edit').isVisible()).toBe(false);
    expect(await page.locator('#layers .more').count()).toBe(0);
    const secret = await page.evaluate<string>(`sessionStorage.getItem('cellport-credential')`);
    const stored = await storedKey(newCall(db), hashOfKey(secret) ?? '');
    if (stored) await removeKey(newCall(db), stored);
    await dialog().getByText('The API key is unknown or revoked').waitFor();
    await dialog().getByText('Sign out').click();
    await who().getByText('Sign in').waitFor();
    await page.locator('#layers').getByText('parks').waitFor();
  });

  it.runIf(inTurn(2)())('serves GraphiQL, too', async () => {
    await page.evaluate(`sessionStorage.setItem('cellport-credential', '${admin}')`);
    await page.goto(`${server.url}/graphiql/`);
    await page.getByText('Signed in as City office').waitFor();
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'query' }).waitFor();
    await page.evaluate(`sessionStorage.setItem('cellport-credential', 'cpk_wrong')`);
    await page.reload();
    await dialog().getByText('The API key is unknown or revoked').waitFor();
    expect(await page.locator('#no-schema').isVisible()).toBe(false);
  });
});
