import { CHANGES, MARKER } from './documents.js';
/** Waits between attempts to connect, doubled each time, in ms. */
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
/**
 * Follows changes over one WebSocket, in the protocol graphql-transport-ws. Server-sent events would need no protocol, but
 * browsers open six connections to a host at most, and a map has a layer for each collection.
 */
export function createLive({ url, collection, onChange, onGap }) {
    const address = new URL(url, globalThis.location?.href);
    address.protocol = address.protocol.replace('http', 'ws');
    let socket;
    let isOpen = false;
    let wasOpen = false;
    let watched;
    let subscription = 0;
    let wait = FIRST_WAIT;
    let openedAt = 0;
    let retry;
    let waiting = [];
    const settle = () => {
        for (const resolve of waiting)
            resolve();
        waiting = [];
    };
    const send = (message) => socket?.send(JSON.stringify(message));
    const subscribe = () => {
        const before = subscription++;
        send({
            id: String(subscription),
            type: 'subscribe',
            payload: { query: CHANGES + MARKER, variables: { collection, bounds: watched } },
        });
        // Only now: both tell of the same changes for a moment, which harms nothing.
        if (before > 0)
            send({ id: String(before), type: 'complete' });
        settle();
    };
    const receive = (message) => {
        if (message.type === 'next' && message.payload.data)
            onChange(message.payload.data.markerChanged);
        else if (message.type === 'ping')
            send({ type: 'pong' });
        else if (message.type === 'connection_ack') {
            isOpen = true;
            openedAt = Date.now();
            subscription = 0;
            subscribe();
            if (wasOpen)
                onGap();
            wasOpen = true;
        }
        else if ((message.type === 'error' || message.type === 'complete') && message.id === String(subscription)) {
            // The server cannot tell all for now: another server took over, records were lost. Begin anew.
            socket?.close();
        }
    };
    const connect = () => {
        const opened = new WebSocket(address, 'graphql-transport-ws');
        socket = opened;
        opened.onopen = () => send({ type: 'connection_init' });
        opened.onmessage = ({ data }) => receive(JSON.parse(String(data)));
        opened.onclose = () => {
            settle();
            if (socket !== opened)
                return;
            // What ends as soon as it is open is no better than what does not open.
            if (isOpen && Date.now() - openedAt > LONGEST_WAIT)
                wait = FIRST_WAIT;
            isOpen = false;
            retry = setTimeout(connect, wait);
            wait = Math.min(2 * wait, LONGEST_WAIT);
        };
    };
    return {
        watch(bounds) {
            watched = bounds;
            const settled = new Promise((resolve) => waiting.push(resolve));
            if (isOpen)
                subscribe();
            else if (!socket)
                connect();
            return settled;
        },
        close() {
            clearTimeout(retry);
            const closing = socket;
            socket = undefined;
            closing?.close();
            settle();
        },
    };
}
