/** The members of a list grouped by `keyOf`, in their original order. */
export function groupBy<T, K>(list: readonly T[], keyOf: (member: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const member of list) {
    const key = keyOf(member);
    const group = groups.get(key);
    if (group) group.push(member);
    else groups.set(key, [member]);
  }
  return groups;
}
