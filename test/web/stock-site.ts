import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';

/** A page of another site: MapLibre as it is published, a style, and a script that has the map. */
const page = (tileJson: string, script: string) => `<!doctype html><title>Map</title><link rel="icon" href="data:," />
<div id="map" style="height: 600px"></div>
<script type="module">
  import { Map } from '/maplibre-gl.mjs';
  const circle = (id, color) => ({
    id, type: 'circle', source: 'cities', 'source-layer': id,
    paint: { 'circle-color': color, 'circle-radius': 8 },
  });
  const sources = { cities: { type: 'vector', url: '${tileJson}' } };
  const style = { version: 8, sources, layers: [circle('clusters', '#b00'), circle('markers', '#06c')] };
  const map = window.map = new Map({ container: 'map', style, center: [10, 48], zoom: 3, fadeDuration: 0 });
  map.on('idle', () => { window.isIdle = true; });
  ${script}
</script>`;

/** Serves a page that draws tiles with a stock style at `url`; `library` is what it can import as /cellport.js. */
export async function stockSite(
  tileJson: string,
  script = '',
  library = '',
): Promise<{ readonly url: string; readonly site: Server }> {
  const answer = async (path: string, response: ServerResponse) => {
    if (path === '/') return response.end(page(tileJson, script));
    const file = new URL(`../../node_modules/maplibre-gl/dist/${basename(path)}`, import.meta.url);
    const text = path === '/cellport.js' ? library : await readFile(file).catch(() => undefined);
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/javascript' });
    return response.end(text);
  };
  const site = createServer(({ url = '/' }, response) => void answer(url, response));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  return { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`, site };
}
