import type { PointFeature } from '../../map/features.js';
import { jsonOf } from '../../model/json.js';
import { escaped } from '../escaped.js';

export interface Link {
  readonly href: string;
  readonly rel: string;
  readonly type?: string;
  readonly title?: string;
}

/** An answer that has a form for programs and one for people. */
export interface Document {
  readonly title: string;
  readonly links: readonly Link[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly features?: readonly PointFeature[];
  /** Until when it is true by itself, in milliseconds since 1970; by default, forever. */
  readonly expiresAt?: number;
  /** The type of its JSON. */
  readonly type?: string;
}

const anchor = (href: string, text: string) => `<a href="${escaped(href)}">${escaped(text)}</a>`;

/** The path of the map, by the URL of the items of a collection. */
const mapOf = (items: string) => new URL(items).pathname.replace(/ogc\/collections\/[^/]*\/items$/, '');

/** The map, with a place in its middle. */
function onMap(collection: string, items: string, { id, geometry: { coordinates } }: PointFeature): string {
  const [lng, lat] = coordinates;
  const place = encodeURIComponent(`marker::${collection}::${String(id)}`);
  return `${mapOf(items)}#at=14/${lat}/${lng}&on=${encodeURIComponent(collection)}&place=${place}`;
}

/** A feature in the table of a page. */
export function row(collection: string, url: string, feature: PointFeature): string {
  const { key, name, category, ...others } = feature.properties;
  const shown = [name, category].map((each) => (typeof each === 'string' ? each : ''));
  const cells = [...shown, jsonOf(others)].map((cell) => `<td>${escaped(cell)}</td>`);
  const item = anchor(`${url}/${encodeURIComponent(String(key))}?f=html`, String(key));
  return `<tr><td>${item}</td>${cells.join('')}<td>${anchor(onMap(collection, url, feature), 'map')}</td></tr>`;
}

/** A page without scripts and styles; `items` is the URL of the items of a collection, and `rows` has those of features. */
export function htmlPage(
  { title, links, body, features }: Document,
  collection: string,
  items: string,
  rows: readonly string[],
): string {
  const list = links.map(({ href, rel, title: name }) => `<li>${anchor(href, name ?? rel)}</li>`).join('\n');
  const content =
    features === undefined
      ? `<pre>${escaped(JSON.stringify(JSON.parse(jsonOf(body)), null, 2))}</pre>`
      : `<table><tr><th>key</th><th>name</th><th>category</th><th>properties</th><th></th></tr>\n${rows.join('\n')}\n</table>`;
  const map =
    collection === '' ? '' : `<p>${anchor(`${mapOf(items)}#on=${encodeURIComponent(collection)}`, 'On the map')}</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><title>${escaped(title)}</title></head>
<body><h1>${escaped(title)}</h1>
${map}<ul>
${list}
</ul>
${content}
</body></html>
`;
}
