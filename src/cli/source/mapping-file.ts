import { readMapping, type Mapping } from '../../sources/mapping.js';
import { readJsonFile } from '../json-file.js';

/** A mapping as it is in a file, checked. */
export interface MappingFile {
  readonly json: string;
  readonly mapping: Mapping;
}

/** Reads the mapping in a file. Throws BAD_USER_INPUT naming the file, with a line for each fault. */
export async function readMappingFile(path: string): Promise<MappingFile> {
  const { json, value: mapping } = await readJsonFile(path, readMapping);
  return { json, mapping };
}
