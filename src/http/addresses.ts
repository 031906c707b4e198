import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * In place of the address of a request that came without a connection, perhaps followed by that of its client. Its
 * protocol is what the caller says.
 */
export const IN_PROCESS = 'in-process';

/** The proxies whose `X-Forwarded-For` is believed: so many in a row, or those with these addresses or networks. */
export type TrustedProxies = number | readonly string[];

/** Tells where requests come from. */
export type Addresses = ReturnType<typeof readAddresses>;

/** An address without port, brackets and zone, IPv4 also without its prefix in IPv6; undefined for any other text. */
function plain(text = ''): string | undefined {
  const bare = text
    .replace(IN_PROCESS, '')
    .trim()
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=[\d.]+$)/i, '')
    .replace(/^([\d.]+):\d+$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/**
 * Each proxy adds the address from which it was reached to the end of `X-Forwarded-For`: what is before the first that
 * is not a trusted proxy's may be invented.
 */
export function readAddresses(trusted: TrustedProxies) {
  const listed = new BlockList();
  for (const entry of typeof trusted === 'number' ? [] : trusted) {
    const [address = '', bits] = entry.split('/');
    if (bits === undefined) listed.addAddress(address, familyOf(address));
    else listed.addSubnet(address, Number(bits), familyOf(address));
  }
  const isTrusted = (address: string, hop: number) =>
    typeof trusted === 'number' ? hop < trusted : address !== '' && listed.check(address, familyOf(address));
  return {
    /** Whether an address that connects to this server is that of a trusted proxy. */
    isProxy: (address: string) => isTrusted(plain(address) ?? '', 0),
    /** The address of the client that sent a request; an empty text if it has gone. */
    of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
      let address = plain(socket.remoteAddress) ?? '';
      const said = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse();
      for (const [hop, text] of said.entries()) {
        const before = isTrusted(address, hop) ? plain(text) : undefined;
        if (before === undefined) break;
        address = before;
      }
      return address;
    },
  };
}
