import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes run first, so that none of them is left for a single worker at the end. */
const ORDER = ['opensearch', 'browser', 'engine', 'unit'];

/** Orders files by project, because Vitest ends a worker when the next file belongs to another one. */
export class ProjectSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      ORDER.indexOf(project.name) + (moduleId.includes('.soak.') ? 0 : 0.5);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
