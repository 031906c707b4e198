import { pick } from './layers/pick.js';
/** The cluster that a feature of the map was drawn from. */
function clusterOf({ feature }) {
    const { west, south, east, north, count } = feature.properties;
    const [lng = 0, lat = 0] = feature.geometry.coordinates;
    return { position: { lng, lat }, bounds: { west, south, east, north }, count };
}
/** Follows mouse and finger over the map. */
export function followPointer(map, layers, actions) {
    let last;
    const show = () => {
        if (last)
            map.getCanvas().style.cursor = pick(map, layers(), last) ? 'pointer' : '';
        last = undefined;
    };
    map.on('mousemove', ({ point }) => {
        // Once a frame: a mouse tells of itself more often than anything is drawn.
        if (last === undefined)
            requestAnimationFrame(show);
        last = point;
    });
    map.on('click', ({ point, lngLat }) => {
        const picked = pick(map, layers(), point);
        const text = (name) => String(picked?.feature.properties[name] ?? '');
        if (picked?.kind === 'marker')
            return actions.onMarker(text('id'), text('name'));
        if (picked?.kind === 'cluster' || picked?.kind === 'single')
            return actions.onCluster(picked.layer, clusterOf(picked));
        const isZone = picked?.kind === 'zone';
        if (actions.onGround(lngLat.wrap(), isZone))
            return undefined;
        if (picked && isZone)
            actions.onZone(text('name'), text('id'), picked.layer);
        return undefined;
    });
}
