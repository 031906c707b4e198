/** A change that was made, and how to undo it. */
export interface Step {
  /** For the undo button, for example "move London". */
  readonly label: string;
  undo(): Promise<void>;
}

const MAX_STEPS = 100;

/** The changes made on this page, for undo. */
export class History {
  readonly #steps: Step[] = [];
  readonly #onChange: () => void;
  #undoing = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get last(): Step | undefined {
    return this.#steps.at(-1);
  }

  add(step: Step): void {
    this.#steps.push(step);
    if (this.#steps.length > MAX_STEPS) this.#steps.shift();
    this.#onChange();
  }

  /** Undoes the last step. One that fails is dropped as well: what it changed has been changed again since. */
  async undo(): Promise<void> {
    // One at a time: the next step may depend on what this one restores.
    if (this.#undoing) return;
    const step = this.#steps.pop();
    if (step === undefined) return;
    this.#undoing = true;
    try {
      await step.undo();
    } finally {
      this.#undoing = false;
      this.#onChange();
    }
  }
}
