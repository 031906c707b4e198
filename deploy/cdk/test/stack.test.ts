import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';

import { policyOf, tablesOf, type Role } from '../cellport-cli.js';
import { CellportStack } from '../cellport-stack.js';
import { choicesOf, choose } from '../choices.js';
import { CHOICES, DOMAIN } from './choices.js';

const stacks = Object.entries(CHOICES).map(([name, choices]) => {
  const app = new App({ context: { 'aws:cdk:disable-asset-staging': true } });
  const stack = new CellportStack(app, 'Cellport', choices);
  return { name, choices: choose(choices), stack, template: Template.fromStack(stack) };
});

interface Resource {
  readonly Properties: Json;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}
type Json = Readonly<Record<string, unknown>>;
const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map((resource) => resource['Properties'] as Json);

for (const { name, choices, template } of stacks) {
  const { server, consumer, cloudfront, table } = choices;
  describe(name, () => {
    test('has the tables of `cellport table schema`, protected, and they outlive the stack', () => {
      const made = Object.values(template.findResources('AWS::DynamoDB::Table')) as unknown as readonly Resource[];
      const wanted = tablesOf(table);
      assert.equal(made.length, wanted.length);
      for (const { request, ttl } of wanted) {
        const own = made.find(({ Properties: { TableName } }) => TableName === request.TableName);
        const { StreamSpecification, GlobalSecondaryIndexes, ...plain } = request as typeof request & {
          GlobalSecondaryIndexes?: readonly Json[];
        };
        const { GlobalSecondaryIndexes: indexes, StreamSpecification: stream, ...others } = own?.Properties ?? {};
        const throughput = choices.maxReadUnits > 0 && {
          OnDemandThroughput: {
            MaxReadRequestUnits: choices.maxReadUnits,
            MaxWriteRequestUnits: choices.maxWriteUnits,
          },
        };
        assert.deepEqual(others, {
          ...plain,
          ...throughput,
          TimeToLiveSpecification: { AttributeName: ttl, Enabled: true },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        });
        assert.deepEqual(
          indexes,
          GlobalSecondaryIndexes?.map((index) => ({ ...index, ...throughput })),
        );
        assert.deepEqual(stream && { StreamEnabled: true, ...stream }, StreamSpecification);
        assert.deepEqual([own?.DeletionPolicy, own?.UpdateReplacePolicy], ['Retain', 'Retain']);
      }
    });

    test('gives each part exactly what `cellport iam` prints for it', () => {
      const wanted: readonly Role[] = [
        server === 'fargate' ? 'server' : 'http',
        ...(consumer === 'lambda' ? (['consumer'] as const) : []),
      ];
      const inline = propertiesOf(template, 'AWS::IAM::Role').flatMap(
        ({ Policies = [] }) => Policies as readonly { PolicyName: string; PolicyDocument: Json }[],
      );
      const own = inline.filter(({ PolicyName }) => PolicyName === 'Cellport').map((policy) => policy.PolicyDocument);
      // CloudFormation takes one of something without a list.
      const plain = (document: unknown) =>
        JSON.parse(JSON.stringify(document).replaceAll(/\[("[^",]+")\]/g, '$1')) as unknown;
      assert.deepEqual(new Set(own.map(plain)), new Set(wanted.map((role) => plain(policyOf(role, table)))));
      // Nothing else gives access to items.
      const others = propertiesOf(template, 'AWS::IAM::Policy').map((policy) => JSON.stringify(policy));
      for (const policy of others) assert.doesNotMatch(policy, /dynamodb:(?!ListStreams)/);
      template.resourcePropertiesCountIs('AWS::IAM::Role', { ManagedPolicyArns: Match.anyValue() }, 0);
    });

    test('asks who clients are, and takes the word of proxies only where there are some', () => {
      const text = JSON.stringify(template.toJSON());
      const proxies = server === 'fargate' ? (cloudfront ? '2' : '1') : cloudfront ? '1' : 'off';
      const variables = [...text.matchAll(/"CELLPORT_TRUST_PROXY":"(\w+)"|"CELLPORT_TRUST_PROXY","Value":"(\w+)"/g)];
      assert.deepEqual(
        variables.map(([, one, other]) => one ?? other),
        proxies === undefined ? [] : [proxies],
      );
      assert.match(text, choices.auth ? /CELLPORT_AUTH(":|","Value":)"on"/ : /CELLPORT_READ_ONLY(":|","Value":)"on"/);
    });

    test('has a consumer, once', () => {
      const isFunction = consumer === 'lambda';
      template.resourceCountIs('AWS::Lambda::EventSourceMapping', isFunction ? 1 : 0);
      if (isFunction) {
        template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          StartingPosition: 'LATEST',
        });
        template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
      }
      const switched = JSON.stringify(template.toJSON()).match(/"CELLPORT_CONSUMER","Value":"(on|off)"/)?.[1];
      assert.equal(switched, server === 'fargate' ? (isFunction ? 'off' : 'on') : undefined);
    });

    test('tells of failures, throttling, a stream that is behind and records that are not counted', () => {
      const alarms = Object.keys(template.findResources('AWS::CloudWatch::Alarm')).map((id) => id.replace(/.{8}$/, ''));
      const always = ['ManyFailures', 'Throttled'];
      const ofConsumer = ['ConsumerFails', 'RecordsNotCounted', 'StreamBehind'];
      assert.deepEqual(alarms.sort(), [...always, ...(consumer === 'lambda' ? ofConsumer : [])].sort());
      for (const { AlarmActions } of propertiesOf(template, 'AWS::CloudWatch::Alarm')) assert.ok(AlarmActions);
      template.resourceCountIs('AWS::SNS::Subscription', choices.email === undefined ? 0 : 1);
      template.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    });

    test('lets CloudFront keep what differs by nothing but the request, and nobody else reach containers', () => {
      template.resourceCountIs('AWS::CloudFront::Distribution', cloudfront ? 1 : 0);
      const allowed = [...JSON.stringify(template.toJSON()).matchAll(/"cloudfront:CreateInvalidation"/g)];
      assert.equal(allowed.length, choices.purge ? 1 : 0);
      const distribution = { Ref: Object.keys(template.findResources('AWS::CloudFront::Distribution'))[0] };
      const value = { 'Fn::Join': ['', ['cloudfront:', distribution]] };
      if (choices.purge && consumer === 'lambda') {
        template.hasResourceProperties('AWS::Lambda::Function', {
          Handler: 'stream.handler',
          Environment: { Variables: { CELLPORT_CDN: value } },
        });
      } else if (choices.purge) {
        template.hasResourceProperties('AWS::ECS::TaskDefinition', {
          ContainerDefinitions: [
            Match.objectLike({ Environment: Match.arrayWith([{ Name: 'CELLPORT_CDN', Value: value }]) }),
          ],
        });
      }
      if (cloudfront) {
        template.hasResourceProperties('AWS::CloudFront::Distribution', {
          DistributionConfig: { CacheTagConfig: { HeaderName: 'Cache-Tag' } },
        });
        const [policy] = propertiesOf(template, 'AWS::CloudFront::CachePolicy');
        const keys = JSON.stringify(policy);
        for (const header of ['Authorization', 'X-Api-Key', 'Accept', 'Origin'])
          assert.ok(keys.includes(`"${header}"`));
      }
      if (server === 'fargate') {
        const scheme = cloudfront ? 'internal' : 'internet-facing';
        template.hasResourceProperties('AWS::ElasticLoadBalancingV2::LoadBalancer', { Scheme: scheme });
        const text = JSON.stringify(template.toJSON());
        assert.match(text, /"ReadonlyRootFilesystem":true/);
      }
    });
  });
}

test('choices that contradict each other are refused', () => {
  assert.throws(() => choose({ consumer: 'server' }), /consumer=lambda/);
  assert.throws(() => choose({ server: 'fargate' }), /certificate/);
  assert.throws(() => choose({ purge: true, cloudfront: false }), /cloudfront/);
  assert.throws(() => choose({ domain: 'a.example' }), /cloudfrontCertificate/);
  assert.throws(() => choose({ server: 'fargate', ...DOMAIN, maxTasks: 3 }), /redisUrl/);
  assert.throws(() => choose({ server: 'lambda' as 'url' }), /url, api or fargate/);
});

test('choices in the context are read as what they are, and what is none is refused', () => {
  const read = (context: Record<string, unknown>) => choicesOf(new App({ context }));
  const chosen = { auth: false, cacheSeconds: 5, table: 'places', readOnly: true };
  assert.deepEqual(
    read({ auth: 'false', cacheSeconds: '5', table: 'places', readOnly: true, name: 'Mine', '@aws-cdk/x:y': true }),
    choose(chosen),
  );
  for (const [context, why] of [
    [{ auth: 'yes' }, /auth must be true or false; got "yes"/],
    [{ readOnly: 'on' }, /readOnly must be true or false/],
    [{ cacheSeconds: 'abc' }, /cacheSeconds must be a whole number; got "abc"/],
    [{ maxReadUnits: '-5' }, /maxReadUnits must be a whole number/],
    [{ email: '' }, /email must be a text/],
    [{ tabel: 'places' }, /a choice must be one of name, table, .*; got tabel/],
  ] as const)
    assert.throws(() => read(context), why);
});
