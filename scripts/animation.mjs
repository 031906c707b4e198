// An animated WebP of screenshots: Chromium encodes each, node-webpmux puts them into one file.

import webpmux from 'node-webpmux';

const { Image } = webpmux;

/** The quality of WebP's lossy compression, from 0 to 1; tried in this order until the file is small enough. */
const QUALITIES = [0.7, 0.55, 0.4, 0.25];

/** Encodes PNGs as WebPs `width` pixels wide, in a separate page. */
async function encode(browser, frames, width, quality) {
  const page = await browser.newPage();
  const encoded = [];
  for (const { png } of frames) {
    const base64 = await page.evaluate(
      async ([text, wide, best]) => {
        const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
        const full = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const size = [wide, Math.round((full.height * wide) / full.width)];
        const canvas = Object.assign(document.createElement('canvas'), { width: size[0], height: size[1] });
        const context = canvas.getContext('2d');
        context.imageSmoothingQuality = 'high';
        context.drawImage(full, 0, 0, ...size);
        return canvas.toDataURL('image/webp', best).split(',')[1];
      },
      [png.toString('base64'), width, quality],
    );
    encoded.push(Buffer.from(base64, 'base64'));
  }
  await page.close();
  return encoded;
}

/** Creates a looping animation from PNGs with their durations in ms. Fails if it cannot be smaller than `mostBytes`. */
export async function animate(browser, frames, { width, mostBytes }) {
  for (const quality of QUALITIES) {
    const encoded = await encode(browser, frames, width, quality);
    const parts = await Promise.all(
      encoded.map((buffer, at) => Image.generateFrame({ buffer, delay: frames[at].ms, blend: false })),
    );
    const first = new Image();
    await first.load(encoded[0]);
    const file = await Image.save(null, { width, height: first.height, frames: parts, loops: 0 });
    console.error(`${file.length} bytes for ${frames.length} frames at a quality of ${quality}`);
    if (file.length < mostBytes) return file;
  }
  throw new Error(`the animation is larger than ${mostBytes} bytes`);
}
