/** What is to be done when a test file has ended: by whoever keeps something for several files of one process. */
export const betweenFiles: (() => Promise<void>)[] = [];
