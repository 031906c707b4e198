import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes run first, so that none of them is left for a single worker at the end. */
const ORDER = ['.opensearch.', '.browser.', '.soak.', '.engine.', '.test.'];

/** Orders files by kind, and so by project, because Vitest ends a worker when the next file belongs to another one. */
export class KindSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => ORDER.findIndex((part) => moduleId.includes(part));
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
