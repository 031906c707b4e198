import * as vega from 'vega';

/** A line through positive figures. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly across: string;
  readonly lines: readonly Line[];
}

const WIDTH = 300;
const GAP = 230;
const COLORS = ['#b3671b', '#0b6e99', '#7a3b8f', '#2d7d46', '#777777'];

function group({ title, across, lines }: Panel, index: number): vega.GroupMark {
  const data = `lines${index}`;
  const x = { scale: 'x', field: 'x' };
  const y = { scale: 'y', field: 'y' };
  const color = { scale: 'color', field: 'name' };
  return {
    type: 'group',
    encode: { enter: { x: { value: index * (WIDTH + GAP) }, width: { value: WIDTH }, height: { signal: 'height' } } },
    signals: [{ name: 'width', value: WIDTH }],
    title: { text: title, fontSize: 12, anchor: 'start' },
    data: [
      {
        name: data,
        values: lines.flatMap(({ name, points }) => points.map(([at, value]) => ({ name, x: at, y: value }))),
      },
    ],
    scales: [
      { name: 'x', type: 'log', range: [0, WIDTH], domain: { data, field: 'x' } },
      { name: 'y', type: 'log', range: 'height', domain: { data, field: 'y' }, nice: true },
      { name: 'color', type: 'ordinal', domain: lines.map(({ name }) => name), range: COLORS },
    ],
    axes: [
      { orient: 'bottom', scale: 'x', format: '~s', title: across, tickCount: 5 },
      { orient: 'left', scale: 'y', format: '~s', tickCount: 5, grid: true },
    ],
    legends: [{ stroke: 'color', symbolType: 'stroke', orient: 'right', offset: 8, labelLimit: 0 }],
    marks: [
      {
        type: 'group',
        from: { facet: { name: `line${index}`, data, groupby: 'name' } },
        marks: [
          {
            type: 'line',
            from: { data: `line${index}` },
            encode: { enter: { x, y, stroke: color, strokeWidth: { value: 2 } } },
          },
        ],
      },
      { type: 'symbol', from: { data }, encode: { enter: { x, y, fill: color, size: { value: 25 } } } },
    ],
  };
}

/** Charts side by side, both axes logarithmic, as SVG. */
export async function logChart(panels: readonly Panel[]): Promise<string> {
  const spec: vega.Spec = {
    width: panels.length * (WIDTH + GAP) - GAP,
    height: 220,
    padding: 10,
    background: 'white',
    marks: panels.map(group),
  };
  return new vega.View(vega.parse(spec), { renderer: 'none' }).toSVG();
}
