// Writes templates of all choices to the folder that is given, and fails for what cdk-nag's rules of AWS find in them.
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

import { CellportStack } from '../cellport-stack.js';
import { CHOICES } from './choices.js';

const [folder = 'cdk.out'] = process.argv.slice(2);
const app = new App({ outdir: folder, context: { 'aws:cdk:disable-asset-staging': true } });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
for (const [name, choices] of Object.entries(CHOICES)) {
  new CellportStack(app, name.replaceAll(/[^a-z]+/gi, '-'), choices);
}
app.synth();
