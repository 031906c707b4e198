/** Functions called after each test file, registered by modules that keep state across the files of one process. */
export const betweenFiles: (() => void | Promise<void>)[] = [];
