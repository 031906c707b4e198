import { byId } from './element.js';
import { boundsOf } from './fly.js';
import { drawPlaces, placesIn, summary } from './places-list.js';
/** Announcements wait until the map stands still. */
const ANNOUNCED_AFTER_MS = 700;
/** The list of what is in view, for those who do not use a pointer, and how much it is, said aloud by screen readers. */
export function createPlacesPanel(map, layers, { onMarker, onCluster }) {
    const [panel, spoken] = [byId('places'), byId('shown')];
    let open = false;
    let announcing;
    function update() {
        const shown = placesIn(boundsOf(map), layers());
        if (open)
            drawPlaces(panel, shown, onMarker, onCluster);
        clearTimeout(announcing);
        announcing = setTimeout(() => (spoken.textContent = summary(shown, layers())), ANNOUNCED_AFTER_MS);
    }
    map.on('moveend', update);
    return {
        get open() {
            return open;
        },
        set(next) {
            open = next;
            panel.hidden = !open;
            update();
        },
        update,
    };
}
