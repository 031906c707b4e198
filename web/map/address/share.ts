import type { Status } from '../dom/status.js';

/** Shares the page's address through the system's dialog if there is one, otherwise by copying it. */
export async function shareLink(status: Status): Promise<void> {
  const link = { title: document.title, url: location.href };
  try {
    if ('share' in navigator) return await navigator.share(link);
    await (navigator as Navigator).clipboard.writeText(link.url);
    status.show('Link copied.');
  } catch (error) {
    // The user has closed the system's dialog.
    if (error instanceof DOMException && error.name === 'AbortError') return;
    // The clipboard requires HTTPS.
    status.show(`Copy this link: ${link.url}`);
  }
}
