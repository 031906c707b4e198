// Loaded into a server before its own code: shifts its wall clock as the runner says, and ends it with the runner.
const RealDate = Date;
let aheadMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }
  static now() {
    return RealDate.now() + aheadMs;
  }
};

process.on('message', (message) => {
  ({ aheadMs } = message);
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel?.unref();
