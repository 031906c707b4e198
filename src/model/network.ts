/** What counts as one client: an IPv4 address, or the network of 64 bits that a customer has in IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [first = [], last = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.slice(0, 4).join(':')}::/64`;
}
