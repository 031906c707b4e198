import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes run first, so that none of them is left for a single worker at the end. */
const FIRST = ['.opensearch.', '.browser.', '.soak.'];

/**
 * Orders files by kind. Unit tests run among those that wait for the engine. Those that measure memory are last, because
 * Vitest ends a worker when the next file belongs to another project.
 */
export class KindSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const first = FIRST.findIndex((part) => moduleId.includes(part));
      if (first >= 0) return first;
      return FIRST.length + (moduleId.includes('.memory.') ? 1 : 0);
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
