const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The partition, from 0 to `shards` - 1, for a key: FNV-1a of its UTF-8 bytes, so that a key always has the same
 * partition and importing again leaves no second copy.
 */
export function shardOf(key: string, shards: number): number {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(key, 'utf8')) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return (hash >>> 0) % shards;
}
