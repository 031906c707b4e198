import * as vega from 'vega';

/** The figures for one collection size. */
export interface Point {
  readonly markers: number;
  readonly queries: number;
  readonly readUnits: number;
  readonly p50: number;
}

const PANELS = [
  ['queries', 'Query calls per map'],
  ['readUnits', 'read units per map'],
  ['p50', 'milliseconds, p50'],
] as const;
const WIDTH = 200;
const GAP = 60;

/** Three charts side by side over the number of markers, as SVG. */
export async function chart(points: readonly Point[]): Promise<string> {
  const spec: vega.Spec = {
    width: PANELS.length * WIDTH + (PANELS.length - 1) * GAP,
    height: 160,
    padding: 10,
    background: 'white',
    data: [{ name: 'points', values: points.map((point) => ({ ...point })) }],
    scales: [{ name: 'x', type: 'log', range: [0, WIDTH], domain: { data: 'points', field: 'markers' }, padding: 10 }],
    marks: PANELS.map(([field, title], index) => ({
      type: 'group',
      encode: {
        enter: { x: { value: index * (WIDTH + GAP) }, width: { value: WIDTH }, height: { signal: 'height' } },
      },
      // Sets the length of the grid lines.
      signals: [{ name: 'width', value: WIDTH }],
      title: { text: title, fontSize: 12, anchor: 'start' },
      scales: [
        {
          name: 'y',
          type: 'linear',
          range: 'height',
          zero: true,
          nice: true,
          domain: { data: 'points', field },
        },
      ],
      axes: [
        { orient: 'bottom', scale: 'x', format: '~s', values: points.map(({ markers }) => markers), title: 'markers' },
        { orient: 'left', scale: 'y', tickCount: 5, grid: true },
      ],
      marks: [
        {
          type: 'line',
          from: { data: 'points' },
          encode: {
            enter: {
              x: { scale: 'x', field: 'markers' },
              y: { scale: 'y', field },
              stroke: { value: '#0b6e99' },
              strokeWidth: { value: 2 },
            },
          },
        },
        {
          type: 'symbol',
          from: { data: 'points' },
          encode: {
            enter: { x: { scale: 'x', field: 'markers' }, y: { scale: 'y', field }, fill: { value: '#0b6e99' } },
          },
        },
      ],
    })),
  };
  return new vega.View(vega.parse(spec), { renderer: 'none' }).toSVG();
}
