import { plainName } from '../../geo/coordinate-names.js';

/** Something behind a time, which is of no use to what has one reading at a time. */
export const BEHIND_TIME = /\d{4}-\d\d-\d\d[^#|/]*[#|/]./;

/** Whether these are numbers of versions; from 0 on, nothing tells whether that is the first or a copy of the last. */
export function areVersions(name: string, texts: readonly string[]): boolean {
  const isNamed = /^(?:v|ver|version|rev|revision)(?:no|nr|num|number)?$/.test(plainName(name));
  return isNamed && texts.every((text) => /^[1-9]\d*$/.test(text));
}
