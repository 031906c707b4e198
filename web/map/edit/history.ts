/** A change that was made, and how to take it back. */
export interface Step {
  /** What it was, for the button: "Undo move of London". */
  readonly label: string;
  undo(): Promise<void>;
}

export interface History {
  readonly last: Step | undefined;
  add(step: Step): void;
  /** Takes the last step back. One that cannot be is gone nevertheless: what it changed has changed again since. */
  undo(): Promise<void>;
}

const REMEMBERED = 100;

/** The changes of this page, the last one first to go. */
export function createHistory(onChange: () => void): History {
  const steps: Step[] = [];
  let undoing = false;
  return {
    get last() {
      return steps.at(-1);
    },
    add(step) {
      steps.push(step);
      if (steps.length > REMEMBERED) steps.shift();
      onChange();
    },
    async undo() {
      // One at a time: the next one may stand on what this one brings back.
      if (undoing) return;
      const step = steps.pop();
      if (step === undefined) return;
      undoing = true;
      try {
        await step.undo();
      } finally {
        undoing = false;
        onChange();
      }
    },
  };
}
