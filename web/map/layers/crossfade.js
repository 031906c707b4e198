import { paintLayer } from './paint.js';
const FADE_MS = 260;
const EMPTY = { type: 'FeatureCollection', features: [] };
const OPACITIES = {
    circle: ['circle-opacity', 'circle-stroke-opacity'],
    fill: ['fill-opacity'],
    line: ['line-opacity'],
    symbol: ['text-opacity'],
};
/**
 * Draws features in two sets of layers by turns, so that what a map shows at one zoom gives way softly to what it shows at
 * the next. `before` names the layer that all of them stay below.
 */
export function createCrossfade(map, id, first, { before, fade }) {
    const sides = [`${id}/a`, `${id}/b`];
    let sketches = first;
    let front = 0;
    let emptying;
    const layerId = (side, { name }) => `${sides[side]}/${name}`;
    const source = (side) => map.getSource(sides[side]);
    function setOpacity(side, on) {
        for (const sketch of sketches) {
            for (const name of OPACITIES[sketch.type]) {
                const full = sketch.paint?.[name] ?? 1;
                paintLayer(map, layerId(side, sketch), { [name]: on ? full : 0 });
            }
        }
    }
    for (const side of sides)
        map.addSource(side, { type: 'geojson', data: EMPTY });
    for (const sketch of sketches) {
        const { name: _, ...layer } = sketch;
        for (const side of [0, 1]) {
            const transitions = OPACITIES[sketch.type].map((name) => [
                `${name}-transition`,
                { duration: fade ? FADE_MS : 0 },
            ]);
            const paint = { ...sketch.paint, ...Object.fromEntries(transitions) };
            map.addLayer({ ...layer, id: layerId(side, sketch), source: sides[side], paint }, before);
        }
    }
    setOpacity(1, false);
    return {
        draw(features, areOthers) {
            if (areOthers) {
                const back = front;
                front = front === 0 ? 1 : 0;
                setOpacity(front, true);
                setOpacity(back, false);
                clearTimeout(emptying);
                emptying = setTimeout(() => void source(back)?.setData(EMPTY), FADE_MS);
            }
            void source(front)?.setData(features);
        },
        repaint(next) {
            sketches = next;
            for (const sketch of sketches) {
                for (const side of [0, 1])
                    paintLayer(map, layerId(side, sketch), sketch.paint);
            }
            setOpacity(front === 0 ? 1 : 0, false);
        },
        get layers() {
            return sketches.map((sketch) => layerId(front, sketch));
        },
        remove() {
            clearTimeout(emptying);
            for (const side of [0, 1]) {
                for (const sketch of sketches)
                    map.removeLayer(layerId(side, sketch));
                map.removeSource(sides[side]);
            }
        },
    };
}
