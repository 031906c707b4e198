import {
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The number of values within a value, including itself. */
function valuesIn(node: ValueNode): number {
  if (node.kind === Kind.LIST) return node.values.reduce((all, value) => all + valuesIn(value), 1);
  if (node.kind === Kind.OBJECT) return node.fields.reduce((all, { value }) => all + valuesIn(value), 1);
  return 1;
}

/** The number of values in the arguments of a selection and its directives; each directive counts as one more. */
export function valuesOf(selection: SelectionNode): number {
  const own = 'arguments' in selection ? (selection.arguments ?? []) : [];
  const directives = selection.directives ?? [];
  const all = [...own, ...directives.flatMap((directive) => directive.arguments ?? [])];
  return all.reduce((values, { value }) => values + valuesIn(value), directives.length);
}

/** Selections that merge into one response field, or spreads of fragments in the same place. */
interface Equal {
  count: number;
  /** Cost of comparing one of them with another. */
  cost: number;
}

/**
 * The largest number of selections that merge into one response field, and the total cost of comparing such selections.
 */
interface Comparisons {
  readonly most: number;
  readonly cost: number;
}

/** Counts the comparisons that validation makes; stops after `budget` selections. */
export function comparisonsIn(document: DocumentNode, fragments: Fragments, budget: number): Comparisons {
  let left = budget;
  const fields = new Map<string, Equal>();
  const spreads = new Map<string, Equal>();
  const add = (places: Map<string, Equal>, place: string, cost: number) => {
    const equal = places.get(place) ?? { count: 0, cost: 0 };
    equal.count += 1;
    equal.cost += cost;
    places.set(place, equal);
  };

  function walk(set: SelectionSetNode, path: string, inside: readonly string[]): void {
    for (const selection of set.selections) {
      if (left-- <= 0) return;
      if (selection.kind === Kind.FIELD) {
        const here = `${path}.${(selection.alias ?? selection.name).value}`;
        // Validation prints the arguments for each comparison.
        add(fields, here, 1 + 2 * valuesOf(selection));
        if (selection.selectionSet) walk(selection.selectionSet, here, inside);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, path, inside);
      } else {
        const name = selection.name.value;
        const fragment = fragments.get(name);
        add(spreads, path, 1);
        if (fragment && !inside.includes(name)) walk(fragment.selectionSet, path, [...inside, name]);
      }
    }
  }

  for (const [index, definition] of document.definitions.entries()) {
    // Validation also covers unused fragments.
    if ('selectionSet' in definition) walk(definition.selectionSet, String(index), []);
  }
  const all = [...fields.values(), ...spreads.values()];
  return {
    most: [...fields.values()].reduce((most, { count }) => Math.max(most, count), 0),
    cost: all.reduce((sum, { count, cost }) => sum + (count - 1) * cost, 0),
  };
}
