import { randomFrom } from '../../test/support/random.js';
import { viewOf, type View } from './places.js';
import type { BenchMarker } from './points.js';

/** A user of a map: mostly pans, sometimes zooms, occasionally jumps to another city. Each call gives the next map. */
export function walker(cities: readonly BenchMarker[], seed: number): () => View {
  const random = randomFrom(seed);
  const somewhere = () => cities[Math.floor(random() * cities.length)]?.position ?? { lng: 0, lat: 0 };
  let { lng, lat } = somewhere();
  let zoom = 5;
  return () => {
    const step = random();
    const width = (1280 * 360) / (512 * 2 ** zoom);
    if (step < 0.8) {
      const angle = random() * 2 * Math.PI;
      lng += Math.cos(angle) * width * 0.25;
      lat = Math.max(-80, Math.min(80, lat + Math.sin(angle) * width * 0.15));
    } else if (step < 0.95) {
      zoom = Math.max(2, Math.min(14, zoom + (random() < 0.5 ? -1 : 1)));
    } else {
      ({ lng, lat } = somewhere());
      zoom = 3 + Math.floor(random() * 9);
    }
    return viewOf('', lng, lat, zoom);
  };
}
