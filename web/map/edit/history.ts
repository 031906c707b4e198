/** A completed change, with functions to undo and redo it. */
export interface Step {
  /** Label for the buttons, for example "move London". */
  readonly label: string;
  undo(): Promise<void>;
  redo(): Promise<void>;
}

const MAX_STEPS = 100;

/** The changes made on this page, for undo and redo. */
export class History {
  readonly #done: Step[] = [];
  readonly #undone: Step[] = [];
  readonly #onChange: () => void;
  #isBusy = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether a step is being taken; none else can be meanwhile. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The steps that undo and redo would take next. */
  get next(): { readonly undo: Step | undefined; readonly redo: Step | undefined } {
    return { undo: this.#done.at(-1), redo: this.#undone.at(-1) };
  }

  add(step: Step): void {
    this.#done.push(step);
    if (this.#done.length > MAX_STEPS) this.#done.shift();
    this.#undone.length = 0;
    this.#onChange();
  }

  /**
   * Undoes the last step, or redoes the last undone one. A step that fails is dropped: something else has changed its
   * target since.
   */
  async take(direction: 'undo' | 'redo'): Promise<void> {
    // One at a time: the next step may depend on the state that this one restores.
    if (this.#isBusy) return;
    const [from, to] = direction === 'undo' ? [this.#done, this.#undone] : [this.#undone, this.#done];
    const step = from.pop();
    if (step === undefined) return;
    this.#isBusy = true;
    try {
      await step[direction]();
      to.push(step);
    } finally {
      this.#isBusy = false;
      this.#onChange();
    }
  }
}
