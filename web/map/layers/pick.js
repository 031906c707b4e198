/** A finger is not a point. */
const REACH = 8;
const ORDER = ['marker', 'single', 'cluster', 'zone', 'cell'];
/** What a pointer is on: markers before clusters, those before zones and cells; nothing where the map is empty. */
export function pick(map, layers, at) {
    const owners = new Map(layers.flatMap((layer) => layer.mapLayers.map((id) => [id, layer])));
    if (owners.size === 0)
        return undefined;
    const exact = map.queryRenderedFeatures(at, { layers: [...owners.keys()] });
    const points = [...owners.keys()].filter((id) => /\/(markers|clusters)$/.test(id));
    const box = [[at.x - REACH, at.y - REACH], [at.x + REACH, at.y + REACH]]; // prettier-ignore
    const near = points.length === 0 ? [] : map.queryRenderedFeatures(box, { layers: points });
    const picked = [...exact, ...near].flatMap((feature) => {
        const layer = owners.get(feature.layer.id);
        return layer ? [{ layer, feature, kind: feature.properties['kind'] }] : [];
    });
    return picked.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))[0];
}
