/** A curve of a chart; points without a value are omitted. */
export interface Curve {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly title: string;
  /** Label and values of the horizontal axis. */
  readonly across: string;
  readonly at: readonly number[];
  readonly curves: readonly Curve[];
}

const WIDTH = 420;
const HEIGHT = 240;
const LEFT = 48;
const RIGHT = 12;
const TOP = 30;
const BOTTOM = 56;

/** The smallest of 1, 2, 5, 10, 20, 50 and so on that is not below a value. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return ([1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-12)) ?? 10) * power;
}

/** Draws a line chart as SVG, with linear axes; the vertical one starts at 0. */
export function chartSvg({ title, across, at, curves }: Chart): string {
  const [least, most] = [Math.min(...at), Math.max(...at)];
  const top = niceAbove(Math.max(0, ...curves.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const x = (value: number) => LEFT + ((value - least) / Math.max(1, most - least)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const at1 = (value: number) => value.toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const line = at1(y(part * top));
    return `<path d="M${LEFT} ${line}H${WIDTH - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${line}" dy="4" text-anchor="end">${Number((part * top).toPrecision(3))}</text>`;
  });
  const ticks = at.map(
    (value) => `<text x="${at1(x(value))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${value}</text>`,
  );
  const lines = curves.map(({ color, values }) => {
    const points = values.flatMap((value, index) =>
      value === null ? [] : [`${at1(x(at[index] ?? 0))} ${at1(y(value))}`],
    );
    const dots = points.map((point) => `M${point}h0`).join('');
    return `<path d="M${points.join('L')}" fill="none" stroke="${color}" stroke-width="2"/><path d="${dots}" stroke="${color}" stroke-width="6" stroke-linecap="round"/>`;
  });
  const legend = curves.map(
    ({ name, color }, index) =>
      `<text x="${LEFT + index * 120}" y="${HEIGHT - 6}" fill="${color}" font-weight="bold">${name}</text>`,
  );
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" role="img" aria-label="${title}"><text x="${LEFT}" y="16" font-weight="bold">${title}</text>${grid.join('')}${ticks.join('')}<text x="${WIDTH - RIGHT}" y="${HEIGHT - BOTTOM + 32}" text-anchor="end">${across}</text>${lines.join('')}${legend.join('')}</svg>`;
}
