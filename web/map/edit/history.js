const REMEMBERED = 100;
/** The changes of this page, the last one first to go. */
export function createHistory(onChange) {
    const steps = [];
    let undoing = false;
    return {
        get last() {
            return steps.at(-1);
        },
        add(step) {
            steps.push(step);
            if (steps.length > REMEMBERED)
                steps.shift();
            onChange();
        },
        async undo() {
            // One at a time: the next one may stand on what this one brings back.
            if (undoing)
                return;
            const step = steps.pop();
            if (step === undefined)
                return;
            undoing = true;
            try {
                await step.undo();
            }
            finally {
                undoing = false;
                onChange();
            }
        },
    };
}
