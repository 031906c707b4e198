import { App } from 'aws-cdk-lib';

import { CellportStack } from './cellport-stack.js';
import { choicesOf } from './choices.js';

const app = new App();
new CellportStack(app, String(app.node.tryGetContext('name') ?? 'Cellport'), choicesOf(app));
