import { viewportDocument } from './documents.js';
import { NOTHING } from './regions.js';
import { send } from './request.js';
import { tileBounds, tileKeys } from './tiles.js';
const ON_SCREEN = 500;
const PAGE = { markers: 1000, zones: 100 };
/** Of a zone's outline: as many again every second level, as it is drawn larger. */
const verticesAt = (level) => Math.min(20000, Math.round(200 * 2 ** (level / 2)));
/** What a page of a region brings, and where the next one begins. */
function read(content) {
    if (Array.isArray(content)) {
        return { content: { ...NOTHING, cells: content }, isByMarker: false, next: null };
    }
    if ('mode' in content) {
        const { mode, markers, clusters } = content;
        return { content: { ...NOTHING, markers, clusters }, isByMarker: mode === 'MARKERS', next: null };
    }
    const { nodes, pageInfo } = content;
    const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    return nodes[0] && 'geometry' in nodes[0]
        ? { content: { ...NOTHING, zones: nodes }, isByMarker: false, next }
        : { content: { ...NOTHING, markers: nodes }, isByMarker: true, next };
}
/**
 * Asks for rectangles of tiles in one request, and for their further pages until there are none; tells each answer as it
 * comes. `screen` is how many tiles a map shows, over which its limit is spread.
 */
export async function* ask(options, rects, screen, signal) {
    const { collection, content = 'auto', filter = null } = options;
    const limitOf = (rect) => {
        if (content === 'zones' || content === 'markers')
            return options.limit ?? PAGE[content];
        return Math.ceil(((options.limit ?? ON_SCREEN) * tileKeys(rect).length) / screen);
    };
    const level = rects[0]?.level ?? 0;
    const at = Date.now();
    let open = rects.map((rect) => ({ rect, after: null, before: NOTHING }));
    while (open.length > 0) {
        const began = Date.now();
        const variables = { collection, zoom: level, filter, vertices: verticesAt(level) };
        const bounds = open.map(({ rect }) => tileBounds(rect));
        for (const [of, { rect, after }] of open.entries()) {
            Object.assign(variables, { [`bounds${of}`]: bounds[of], [`limit${of}`]: limitOf(rect), [`after${of}`]: after });
        }
        const reply = await send(options, viewportDocument(content, open.length), variables, signal);
        const data = reply.data;
        const regions = [];
        const more = [];
        for (const [of, { rect, before }] of open.entries()) {
            const answered = data[`r${of}`]?.content;
            if (!answered)
                continue;
            const page = read(answered);
            const all = {
                ...page.content,
                markers: [...before.markers, ...page.content.markers],
                zones: [...before.zones, ...page.content.zones],
            };
            // Whether a changed marker passes a filter, only the server can tell.
            const mostMarkers = !page.isByMarker || filter !== null ? 0 : content === 'auto' ? limitOf(rect) : Infinity;
            regions.push({ rect, keys: tileKeys(rect), at, content: all, mostMarkers, stale: false });
            if (page.next !== null)
                more.push({ rect, after: page.next, before: all });
        }
        const { error, cost, reads, readsLeftOut } = reply;
        yield { regions, error, answer: { regions: bounds, ms: Date.now() - began, cost, reads, readsLeftOut } };
        open = more;
    }
}
