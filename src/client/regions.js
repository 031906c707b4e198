import { holds, tileBounds } from './tiles.js';
export const NOTHING = { markers: [], clusters: [], cells: [], zones: [] };
/** Tiles that are remembered beside those that are shown. */
const REMEMBERED_TILES = 1000;
/** An answer may lack what was told so long before it was asked for, in ms: viewports follow changes a little later. */
const LAG = 1000;
/** Longer than an answer takes, in ms: changes are kept so long for those under way. */
const KEPT = 15000;
/** Puts a change into a region. Returns whether it shows there. */
function apply(region, { id, kind, marker, previous }) {
    const { content, mostMarkers } = region;
    const bounds = tileBounds(region.rect);
    const isHere = marker !== null && kind !== 'DELETED' && holds(bounds, marker.position);
    const wasHere = (previous !== null && holds(bounds, previous)) || content.markers.some((each) => each.id === id);
    if (!isHere && !wasHere)
        return false;
    const others = content.markers.filter((each) => each.id !== id);
    if (mostMarkers > 0)
        region.content = { ...content, markers: isHere ? [...others, marker] : others };
    if (mostMarkers === 0 || region.content.markers.length > mostMarkers)
        region.stale = true;
    return true;
}
/** Nothing is known yet. */
export function createRegions() {
    /** Each tile's region; those that were put in first come first. */
    const byTile = new Map();
    let recent = [];
    const all = () => new Set(byTile.values());
    const forget = (region) => {
        for (const key of region.keys)
            byTile.delete(key);
    };
    return {
        at: (key) => byTile.get(key),
        of: (keys) => [...new Set(keys.flatMap((key) => byTile.get(key) ?? []))],
        put(region) {
            for (const key of region.keys) {
                const older = byTile.get(key);
                if (older)
                    forget(older);
            }
            for (const oldest of all()) {
                if (byTile.size + region.keys.length <= REMEMBERED_TILES)
                    break;
                forget(oldest);
            }
            for (const key of region.keys)
                byTile.set(key, region);
            for (const { at, change } of recent)
                if (at > region.at - LAG)
                    apply(region, change);
        },
        change(change) {
            const now = Date.now();
            recent = [...recent.filter(({ at }) => at > now - KEPT), { at: now, change }];
            return [...all()].filter((region) => apply(region, change));
        },
        age(before) {
            for (const region of all())
                if (region.at < before)
                    region.stale = true;
        },
        leave(bounds) {
            for (const region of all()) {
                const { west, south, east, north } = tileBounds(region.rect);
                const isWithin = [
                    { lng: west, lat: south },
                    { lng: east > 180 ? east - 360 : east, lat: north },
                ].every((corner) => holds(bounds, corner));
                if (!isWithin)
                    region.stale = true;
            }
        },
    };
}
const boundsKey = ({ west, south, east, north }) => `${west}/${south}/${east}/${north}`;
/** Each thing once, by its name; of several the last. */
function once(lists, name) {
    return [...new Map(lists.flat().map((each) => [name(each), each])).values()];
}
/** `unite` that gives the same lists as long as there is nothing new in them. */
export function createUnion() {
    let united = [];
    let union = NOTHING;
    return (regions) => {
        if (regions.length !== united.length || regions.some(({ content }, at) => content !== united[at])) {
            united = regions.map(({ content }) => content);
            union = unite(united);
        }
        return union;
    };
}
/**
 * What regions hold together. Clusters of a level are the same in whatever rectangle they are asked for, so those on an
 * edge come from both sides and are drawn once; a marker of one region may be counted in a cluster of the next.
 */
export function unite(contents) {
    const lists = (kind) => contents.map((content) => content[kind]);
    const clusters = once(lists('clusters'), ({ bounds }) => boundsKey(bounds));
    const counted = ({ position: { lng, lat } }) => clusters.some(({ bounds: { west, south, east, north } }) => west < lng && lng <= east && south < lat && lat <= north);
    return {
        clusters,
        markers: once(lists('markers'), ({ id }) => id).filter((marker) => !counted(marker)),
        cells: once(lists('cells'), ({ geohash }) => geohash),
        zones: once(lists('zones'), ({ id }) => id),
    };
}
