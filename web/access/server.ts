// Apart from `new URL`, as the bundler would look for a file there.
const { url } = import.meta;

/**
 * The path of something that the page's server has, such as `graphql`. The modules of each page are two folders below the
 * server's root, whatever path of a proxy that root is.
 */
export const pathOf = (name: string): string => new URL(`../../${name}`, url).pathname;
