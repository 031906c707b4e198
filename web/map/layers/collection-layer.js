import { createViewport, } from '../../../src/client/public.js';
import { createCrossfade } from './crossfade.js';
import { cellsOf, pointsOf, zonesOf } from './features.js';
import { cellSketches, pointSketches, zoneSketches } from './paint.js';
const CONTENT = { points: 'auto', cells: 'cells', zones: 'zones' };
const SKETCHES = { points: pointSketches, cells: cellSketches, zones: zoneSketches };
/** Areas lie below the names of countries, points above all. */
const BELOW = { cells: 'country-names', zones: 'country-names' };
const placeOf = ({ lng, lat }) => `${lng},${lat}`;
const sameMarker = (one, other) => placeOf(one.position) === placeOf(other.position) &&
    one.name === other.name &&
    one.category === other.category &&
    JSON.stringify(one.properties) === JSON.stringify(other.properties);
/** What tells one drawing from another: the names of all that is in it. */
function namesOf({ markers, clusters, cells, zones }) {
    return new Set([
        ...markers.map(({ id }) => id),
        ...clusters.map(({ position, count }) => `${placeOf(position)} ${count}`),
        ...cells.map(({ geohash }) => geohash),
        ...zones.map(({ id }) => id),
    ]);
}
/** One collection on the map: asks for what is shown, and draws it. Draws nothing until it is set. */
export function createCollectionLayer(map, collection, accentAt, theme, { fade, events }) {
    const open = new Map();
    const pretended = new Map();
    let drawn = 'off';
    let current = theme;
    let seen;
    let explain = false;
    const hasZones = collection.zones.nodes.length > 0;
    const wanted = () => {
        if (drawn === 'off')
            return [];
        return [...(hasZones ? ['zones'] : []), drawn === 'heat' ? 'cells' : 'points'];
    };
    function content() {
        const state = open.get('points')?.viewport.state;
        if (state === undefined)
            return { markers: [], clusters: [] };
        const kept = state.markers.filter(({ id }) => !pretended.has(id));
        const added = [...pretended.values()].filter((marker) => marker !== null);
        return { markers: [...kept, ...added], clusters: state.clusters };
    }
    /** Forgets what is pretended and has come true. */
    function settle(markers) {
        const known = new Map(markers.map((marker) => [marker.id, marker]));
        for (const [id, as] of pretended) {
            const real = known.get(id);
            if (as === null ? real === undefined : real !== undefined && sameMarker(as, real))
                pretended.delete(id);
        }
    }
    function tellChanges(before, after) {
        // What came by a request of our own is no news.
        if (before.loading || after.loading || before.markers.length === 0)
            return;
        const known = new Map(before.markers.map((marker) => [marker.id, marker]));
        for (const marker of after.markers) {
            const old = known.get(marker.id);
            if (old === undefined || !sameMarker(old, marker))
                events.onChange(marker.position);
        }
    }
    const featuresOf = (part, state) => part === 'points' ? pointsOf(content()) : part === 'cells' ? cellsOf(state) : zonesOf(state);
    function openPart(part) {
        const before = BELOW[part];
        const sketches = SKETCHES[part](accentAt, current);
        const fader = createCrossfade(map, `${collection.key}/${part}`, sketches, { fade, ...(before && { before }) });
        const viewport = createViewport({ url: '/graphql', collection: collection.key, content: CONTENT[part], explain });
        open.set(part, { viewport, fader });
        let last = viewport.state;
        let names = new Set();
        viewport.subscribe((state) => {
            if (part === 'points') {
                settle(state.markers);
                tellChanges(last, state);
            }
            last = state;
            const next = namesOf(state);
            // What was asked for and is not there yet leaves the old picture: empty is only what the server says is.
            if (next.size > 0 || !state.loading) {
                const areOthers = names.size > 0 && next.size > 0 && ![...names].some((name) => next.has(name));
                names = next;
                fader.draw(featuresOf(part, state), areOthers);
            }
            events.onState(state);
        });
        if (seen)
            viewport.view(seen.bounds, seen.zoom);
    }
    function closePart(part) {
        open.get(part)?.viewport.close();
        open.get(part)?.fader.remove();
        open.delete(part);
    }
    function redraw() {
        const points = open.get('points');
        if (points)
            points.fader.draw(pointsOf(content()), false);
    }
    const layer = {
        collection,
        accentAt,
        get drawn() {
            return drawn;
        },
        get content() {
            return content();
        },
        get states() {
            return [...open.values()].map(({ viewport }) => viewport.state);
        },
        get mapLayers() {
            return [...open.values()].flatMap(({ fader }) => fader.layers);
        },
        set(next) {
            drawn = next;
            const parts = wanted();
            for (const part of open.keys())
                if (!parts.includes(part))
                    closePart(part);
            for (const part of parts)
                if (!open.has(part))
                    openPart(part);
        },
        view(bounds, zoom) {
            seen = { bounds, zoom };
            for (const { viewport } of open.values())
                viewport.view(bounds, zoom);
        },
        async expand(cluster) {
            return (await open.get('points')?.viewport.expand(cluster)) ?? { zoom: 30, marker: null };
        },
        pretend(id, marker) {
            pretended.set(id, marker);
            redraw();
            return () => {
                if (!pretended.has(id) || pretended.get(id) !== marker)
                    return false;
                pretended.delete(id);
                redraw();
                return true;
            };
        },
        setExplain(on) {
            if (on === explain)
                return;
            explain = on;
            const parts = [...open.keys()];
            parts.forEach(closePart);
            parts.forEach(openPart);
        },
        repaint(next) {
            current = next;
            for (const [part, { fader }] of open)
                fader.repaint(SKETCHES[part](accentAt, current));
        },
        refresh() {
            for (const { viewport } of open.values())
                viewport.refresh();
        },
    };
    return layer;
}
