import { boundsOf } from '../fly.js';
import { createCollectionLayer } from './collection-layer.js';
/** Puts collections on a map, and lets them follow where it goes. */
export function createLayerSet(map, collections, { theme, fade, onState, onChange, onAnswer }) {
    const answered = new Set();
    function tell(state) {
        const states = all.flatMap((layer) => layer.states);
        const error = states.find((each) => each.error !== null)?.error ?? null;
        onState({ loading: states.some(({ loading }) => loading), error });
        // The same answer comes with each change of the state until there is another one.
        if (state.answer === null || state.answer.cost === null || answered.has(state.answer))
            return;
        answered.clear();
        answered.add(state.answer);
        onAnswer(state.answer);
    }
    const all = collections.map((collection, accentAt) => createCollectionLayer(map, collection, accentAt, theme, { fade, events: { onState: tell, onChange } }));
    const keysOf = (drawn) => all.filter((layer) => layer.drawn === drawn).map(({ collection }) => collection.key);
    const view = () => {
        for (const layer of all)
            layer.view(boundsOf(map), map.getZoom());
    };
    map.on('move', view);
    view();
    return {
        all,
        get address() {
            return { on: [...keysOf('points'), ...keysOf('heat')], heat: keysOf('heat') };
        },
        show({ on, heat = [] }) {
            const withPlaces = all.filter(({ collection }) => collection.count > 0);
            const wanted = on ?? (withPlaces.length > 0 ? withPlaces : all).map(({ collection }) => collection.key);
            for (const layer of all) {
                const { key } = layer.collection;
                const next = wanted.includes(key) ? (heat.includes(key) ? 'heat' : 'points') : 'off';
                if (layer.drawn !== next)
                    layer.set(next);
            }
        },
        repaint(next) {
            for (const layer of all)
                layer.repaint(next);
        },
        refresh() {
            for (const layer of all)
                layer.refresh();
        },
        setExplain(on) {
            for (const layer of all)
                layer.setExplain(on);
        },
    };
}
