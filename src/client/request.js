/** An error that a server answered with. */
export class ViewportError extends Error {
    name = 'ViewportError';
    /** One of Cellport's codes (BAD_USER_INPUT, THROTTLED …), or UNAVAILABLE where there was no such answer. */
    code;
    /** In how many ms to try again, where the server says so. */
    retryAfterMs;
    constructor(message, code, retryAfterMs) {
        super(message);
        this.code = code;
        this.retryAfterMs = retryAfterMs;
    }
}
/** Sends a query. Rejects with ViewportError where there is no data at all, and with AbortError where it was aborted. */
export async function send({ url, headers, explain }, query, variables, signal) {
    let answer;
    try {
        const response = await fetch(url, {
            method: 'POST',
            headers: {
                'content-type': 'application/json',
                ...(explain === true ? { 'x-cellport-cost': '1', 'x-cellport-explain': '1' } : {}),
                ...headers,
            },
            body: JSON.stringify({ query, variables }),
            ...(signal ? { signal } : {}),
        });
        answer = (await response.json());
    }
    catch (error) {
        if (signal?.aborted === true)
            throw error;
        throw new ViewportError(`${url} gave no answer: ${String(error)}`, 'UNAVAILABLE');
    }
    const { data, errors, extensions: { cost = null, reads = [], readsLeftOut = 0 } = {} } = answer;
    const first = errors?.[0];
    const error = first
        ? new ViewportError(first.message, first.extensions?.code ?? 'UNAVAILABLE', first.extensions?.retryAfterMs)
        : null;
    if (!data)
        throw error ?? new ViewportError(`${url} answered with neither data nor errors`, 'UNAVAILABLE');
    return { data, error, cost, reads, readsLeftOut };
}
