export function createAlarm(call) {
    let timer;
    let due = Infinity;
    const cancel = () => {
        clearTimeout(timer);
        due = Infinity;
    };
    const set = (ms) => {
        cancel();
        due = Date.now() + ms;
        timer = setTimeout(() => {
            due = Infinity;
            call();
        }, ms);
    };
    return {
        set,
        within(ms) {
            if (Date.now() + ms < due)
                set(ms);
        },
        cancel,
    };
}
