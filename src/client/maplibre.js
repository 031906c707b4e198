import { toFeatures } from './geojson.js';
import { createViewport } from './viewport.js';
/**
 * Adds a GeoJSON source to a map whose style is loaded, which holds what the map shows of a collection (the features of
 * `toFeatures`) and follows it. Its id is `cellport-{collection}` where none is given.
 */
export function viewportSource(map, { id = '', ...options }) {
    const name = id || `cellport-${options.collection}`;
    const viewport = createViewport(options);
    map.addSource(name, { type: 'geojson', data: toFeatures(viewport.state), promoteId: 'id' });
    let drawn = viewport.state;
    viewport.subscribe((state) => {
        const isNew = ['markers', 'clusters', 'cells', 'zones'].some((list) => state[list] !== drawn[list]);
        drawn = state;
        if (isNew)
            map.getSource(name)?.setData(toFeatures(state));
    });
    const follow = () => {
        const bounds = map.getBounds();
        viewport.view({ west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() }, map.getZoom());
    };
    map.on('move', follow);
    follow();
    return {
        id: name,
        viewport,
        remove() {
            map.off('move', follow);
            viewport.close();
            map.removeSource(name);
        },
    };
}
