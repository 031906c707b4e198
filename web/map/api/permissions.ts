import { may, type Viewer } from '../../access/viewer.js';

/** Until the server has answered, nothing is offered. */
let viewer: Viewer = { name: null, roles: [], may: [] };

export const currentViewer = (): Viewer => viewer;

/** Takes what the server says about who is signed in; returns whether that is news. */
export function learnViewer(next: Viewer): boolean {
  const isNews = JSON.stringify(next) !== JSON.stringify(viewer);
  viewer = next;
  return isNews;
}

/** Whether markers of a collection may be written; without a key, those of any. */
export const mayWrite = (key?: string): boolean => may(viewer, 'write', key);

/** Whether any collection may be created. */
export const mayCreate = (): boolean => may(viewer, 'admin');
