import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { until } from '../live/support.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { accessibilityFaults } from './accessibility.js';
import { collectFaults, drawSlowly, expectSoon, hasChromium, keep, openBrowser, SMALL } from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';

const SHOPS = `id;Name;Category;Latitude;Longitude;opens
1;"Bread; fresh";bakery;52,41;16,93;"7 ""sharp"""
2;Ink;stationer;52,40;16,92;
2;Ink again;stationer;52,40;16,92;
3;Nowhere;bakery;95;16,9;
broken;row
4;Ink "two";stationer;52,40;16,92;
5;Last;;52,42;16,9;9
`;
/** Its features have no keys; one is an area, one is not JSON. */
const PARKS = `{"type": "FeatureCollection", "features": [
  {"type": "Feature", "properties": {"name": "Cytadela [}", "hectares": 100},
   "geometry": {"type": "Point", "coordinates": [16.93, 52.42]}},
  {"type": "Feature", "properties": {"name": "Area"},
   "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}},
  {"type": "Feature", "properties": {"name": oops}, "geometry": null},
  {"type": "Feature", "properties": {"name": "Sołacki \\\\"}, "geometry": {"type": "Point", "coordinates": [16.9, 52.42]}}
]}`;

const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

/** Drawing more than fit into one answer of the server, 50, takes a quarter of a minute. */
const OTHERS = runsAll ? 52 : 3;

describe.skipIf(!hasChromium)('importing on the map page', async () => {
  const turn = inTurn(2);
  const db = await testDatabase('readable', { stream: true });
  const faults: string[] = [];
  let server: MapServer;
  let browser: Browser;
  let page: Page;

  const panel = () => page.locator('#import');
  const choose = (name: string, text: string) => page.locator('input[type=file]').setInputFiles(file(name, text));
  /** Drops a file in the middle of the page, like a user from another window. */
  const drop = (name: string, text: string) =>
    page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      for (const type of ['dragenter', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }`);
  const done = async () => {
    await panel().getByRole('button', { name: 'Done' }).waitFor();
    const text = await panel().getByRole('status').textContent();
    await panel().getByRole('button', { name: 'Done' }).click();
    return text;
  };
  async function markersOf(key: string): Promise<readonly { readonly key: string; readonly name: string }[]> {
    await server.counted();
    const query = `{ collection(key: "${key}") { markers { nodes { key name category properties } } } }`;
    return (await server.ask(query)).collection.markers.nodes;
  }
  const layerNames = () => page.locator('#layers b').allTextContents();
  /** Reads the collections again at once instead of in ten seconds. */
  const readAgain = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);

  beforeAll(async () => {
    [server, browser] = await Promise.all([startMapServer(db), openBrowser()]);
    const context = await browser.newContext({ ...SMALL, reducedMotion: 'reduce' });
    await drawSlowly(context);
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    collectFaults(page, faults);
    await page.goto(server.url);
    await page.locator('#first h2').waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  it('starts on an empty server with a drop area and commands to copy', async () => {
    expect(await page.locator('#first .command code').allTextContents()).toEqual([
      'npx cellport import places.geojson --collection places',
      'npx cellport serve --demo',
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, 'first-screen');
  });

  it('imports a CSV file into a new collection, with a preview and its rejects, and again without a change', async () => {
    await choose('city_shops.csv', SHOPS);
    const start = panel().getByRole('button', { name: 'Import 3 places' });
    await start.waitFor();
    expect(await page.locator('#first').isVisible()).toBe(false);
    expect(await panel().locator('tbody tr').first().locator('td').allTextContents()).toEqual(['1', 'Bread; fresh', 'bakery', '52.41', '16.93', '7 "sharp"']); // prettier-ignore
    expect(await panel().getByLabel('Name', { exact: true }).inputValue()).toBe('City shops');
    expect(await panel().getByLabel('Key, used').inputValue()).toBe('city-shops');
    expect(await panel().locator('.columns summary').textContent()).toBe(
      'Columns: latitude from Latitude, longitude from Longitude, key from id, name from Name, category from Category',
    );
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, 'import-preview');
    await start.click();
    await panel().getByRole('button', { name: 'Done' }).waitFor();
    await panel().locator('.rejects summary').click();
    expect(await panel().locator('.rejects li').allTextContents()).toEqual([
      'Line 4: key "2" is already used on line 3',
      'Line 5: latitude 95 is not a number from -90 to 90',
      'Line 6: 2 fields, but the header has 6',
      'Line 7: a quote is missing or misplaced',
    ]);
    const downloading = page.waitForEvent('download');
    await panel().getByRole('link', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe('city_shops.csv.rejects.ndjson');
    expect(await done()).toBe('3 created, 0 updated, 0 unchanged');
    expect((await markersOf('city-shops')).toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { key: '1', name: 'Bread; fresh', category: 'bakery', properties: { opens: '7 "sharp"' } },
      { key: '2', name: 'Ink', category: 'stationer', properties: {} },
      { key: '5', name: 'Last', category: null, properties: { opens: '9' } },
    ]);
    // The layer is on, and its count is updated.
    await page.locator('#layers').getByText('3 places').waitFor();
    await expectSoon(page, 'cellport.layers[0].content.markers.length === 3');

    await choose('city_shops.csv', SHOPS.replace('Last', 'Renamed'));
    await panel().getByText('Column "opens" is text, as "7 \\"sharp\\"" is no number').waitFor();
    await panel().getByRole('button', { name: 'Import 3 places' }).click();
    expect(await done()).toBe('0 created, 1 updated, 2 unchanged');
  });

  it.runIf(turn())('asks for the position columns if none are found, and lets every column be chosen', async () => {
    await choose('stops.csv', 'code,hoch,quer,title,kind\na,52.41,16.93,Rynek,tram\na,52.4,16.92,Most,bus\n');
    await panel().getByText('no position').waitFor();
    const column = (name: string) => panel().getByLabel(`${name} column`);
    expect(await column('Latitude').evaluate((each) => each.matches(':focus'))).toBe(true);
    await column('Latitude').selectOption('hoch');
    await panel().getByText('Also choose the longitude column.').waitFor();
    await column('Longitude').selectOption('title');
    await panel().getByText('This file contains no valid places.').waitFor();
    await panel().locator('.rejects summary').click();
    expect(await panel().locator('.rejects li').first().textContent()).toBe(
      'Line 2: longitude Rynek in column title is not a number from -180 to 180',
    );
    await column('Longitude').selectOption('quer');
    await panel().getByRole('button', { name: 'Import 2 places' }).waitFor();
    await column('Name').selectOption('title');
    await column('Category').selectOption('kind');
    await column('Key').selectOption('code');
    await panel().getByRole('button', { name: 'Import 1 place' }).waitFor();
    expect(await panel().locator('.rejects li').allTextContents()).toEqual([
      'Line 3: key "a" in column code is already used on line 2',
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, 'import-columns');
    await panel().getByRole('button', { name: 'Import 1 place' }).click();
    expect(await done()).toBe('1 created, 0 updated, 0 unchanged');
    expect(await markersOf('stops')).toEqual([
      { key: 'a', name: 'Rynek', category: 'tram', properties: { code: 'a' } },
    ]);
    await server.ask(`mutation { deleteCollection(key: "stops") { key } }`);
  });

  it.runIf(turn())('imports a dropped GeoJSON file without keys; dropping it twice adds nothing', async () => {
    for (const expected of ['2 created, 0 updated, 0 unchanged', '0 created, 0 updated, 2 unchanged']) {
      await drop('parks.geojson', PARKS);
      await panel().getByText('1 area skipped.').waitFor();
      await panel().getByText('2 rows have no key: it is made of the content.').waitFor();
      await panel().getByText('parks --zones').waitFor();
      await panel().getByRole('button', { name: 'Import 2 places' }).click();
      await panel().getByRole('button', { name: 'Done' }).waitFor();
      expect(await panel().locator('.rejects li').allTextContents()).toEqual([
        'Line 4: geometry is Polygon, but a marker needs a Point',
        expect.stringMatching(/^Line 6: not JSON/),
      ]);
      expect(await done()).toBe(expected);
    }
    expect((await markersOf('parks')).map(({ name }) => name).toSorted()).toEqual(['Cytadela [}', 'Sołacki \\']);
    expect(await page.locator('#drop').isVisible()).toBe(false);
  });

  it.runIf(turn())('reports what is wrong with a file, and that a server does not accept changes', async () => {
    await choose('shops.xlsx', '');
    await panel().getByText('This page reads only .geojson').waitFor();
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('mutation')) return route.continue();
      const errors = [{ message: 'this server is read-only', extensions: { code: 'FORBIDDEN' } }];
      return route.fulfill({ json: { errors } });
    });
    await choose('more.csv', 'key,lat,lng\n1,2,3\n');
    await panel().getByRole('button', { name: 'Import 1 place' }).click();
    await panel().getByText('This server does not accept changes: this server is read-only').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'hidden' });
    expect(await layerNames()).not.toContain('More');
  });

  it('creates a collection, to which clicks add places', async () => {
    await page.getByRole('button', { name: 'New collection' }).click();
    await panel().getByLabel('Name').fill('Łąki i łany');
    expect(await panel().getByLabel('Key').inputValue()).toBe('laki-i-lany');
    await panel().getByLabel('Key').fill('meadows');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add at center' }).waitFor();
    expect(await page.getByLabel('Collection for new places').inputValue()).toBe('meadows');
    await page.getByRole('button', { name: 'Edit' }).click();
  });

  it(`shows collections created by others, ${OTHERS} of them, and removes deleted ones`, async () => {
    const colorOf = (name: string) =>
      page.locator('#layers li', { hasText: name }).locator('.dot').getAttribute('style');
    const names = ['City shops', 'Łąki i łany'] as const;
    const colors = () => Promise.all(names.map(colorOf));
    const before = await colors();
    const others = `[...document.querySelectorAll('#layers b')].filter(({ textContent }) => /^A \\d/.test(textContent)).length`;
    expect(before[0]).not.toBe(before[1]);
    await server.ask(`mutation { ${Array.from({ length: OTHERS }, (_, at) => `c${at}: createCollection(input: { key: "a${at}", name: "A ${at}" }) { key }`).join(' ')} }`); // prettier-ignore
    await readAgain();
    await expectSoon(page, `${others} === ${OTHERS}`);
    expect(await colors()).toEqual(before);
    await server.ask(`mutation { deleteCollection(key: "a1") { key } }`);
    await until(async () => {
      await readAgain();
      // Responses with many collections take a moment.
      await page.waitForTimeout(1_000);
      return !(await layerNames()).includes('A 1');
    });
    expect(await page.evaluate(others)).toBe(OTHERS - 1);
  });

  it('caused no errors', () => {
    expect(faults).toEqual([]);
  });
});
