/** Called after each test file by modules that keep state across the files of one process. */
export const betweenFiles: (() => void | Promise<void>)[] = [];
