// A reporter for `npm test`: says whether a run had errors that belong to no test. A second try might lack them.
import { writeFileSync } from 'node:fs';

export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    const path = process.env['CELLPORT_UNHANDLED_ERRORS']; // oxlint-disable-line node/no-process-env
    if (errors.length > 0 && path !== undefined) writeFileSync(path, String(errors.length));
  }
}
