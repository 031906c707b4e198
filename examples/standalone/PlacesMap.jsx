import 'maplibre-gl/dist/maplibre-gl.css';

import { viewportSource } from 'cellport/client';
import { Map, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import { useEffect, useRef } from 'react';

setWorkerUrl(new URL(workerUrl, location.href).href);

export function PlacesMap({ url, collection, style }) {
  const container = useRef(null);
  useEffect(() => {
    const map = new Map({ container: container.current, style, center: [10, 50], zoom: 4 });
    let viewport;
    map.on('load', () => {
      const source = viewportSource(map, { url, collection });
      viewport = source.viewport;
      map.addLayer({ id: 'places', type: 'circle', source: source.id });
    });
    return () => {
      viewport?.close();
      map.remove();
    };
  }, [url, collection, style]);
  return <div ref={container} style={{ height: '100vh' }} />;
}
