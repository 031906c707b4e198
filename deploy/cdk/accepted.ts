import { Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** What cdk-nag's rules of AWS find, and why it is so. */
const ACCEPTED: Readonly<Record<string, string>> = {
  APIG1: 'Cellport writes a line of its log for each request',
  APIG4: 'Cellport asks clients who they are',
  CFR1: 'It is for the owner to decide who sees maps from where',
  CFR2: 'A firewall costs by the request: it is for the owner to decide',
  CFR3: 'Cellport writes a line of its log for each request',
  CFR4: 'Only without a domain of its own: clients then use the certificate of CloudFront',
  EC23: 'A load balancer without CloudFront is for everybody',
  ECS2: 'None of the settings is a secret',
  ELB2: 'Cellport writes a line of its log for each request',
  L1: "The JSON parser of Node 24 misreads some names of properties: see Limits in Cellport's README",
};
const WILDCARDS =
  'What `cellport iam` prints: tables of this name in any region, those of months by the beginning of their names, and ' +
  'lists and tokens, which are no resource';

export function acceptFindings(scope: Construct, table: string): void {
  const accept = (id: string, reason: string) =>
    Validations.of(scope).acknowledge({ id: `AwsSolutions::AwsSolutions-${id}`, reason });
  for (const [id, reason] of Object.entries(ACCEPTED)) accept(id, reason);
  const ofTable = ['', '-derived', '-readings-*', '/index/*', '/stream/*', '-readings-*/stream/*'];
  const resources = ['*', ...ofTable.map((suffix) => `arn:aws:dynamodb:*:*:table/${table}${suffix}`)];
  for (const resource of resources) accept(`IAM5[Resource::${resource}]`, WILDCARDS);
}
