/** Called after each test file, by modules that keep state for several files of one process. */
export const betweenFiles: (() => void | Promise<void>)[] = [];
