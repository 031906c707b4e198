import type { Choices } from '../choices.js';

/** What only containers need, and a name of one's own. */
export const DOMAIN = {
  domain: 'maps.example.org',
  certificate: 'arn:aws:acm:eu-central-1:123456789012:certificate/b7b3a3a0-0000-4000-8000-000000000001',
  cloudfrontCertificate: 'arn:aws:acm:us-east-1:123456789012:certificate/b7b3a3a0-0000-4000-8000-000000000002',
  image: 'registry.example.org/cellport:1',
};
/** Stacks that are checked, by what they are. */
export const CHOICES: Readonly<Record<string, Partial<Choices>>> = {
  'a function with its URL': { email: 'ops@example.org', maxReadUnits: 4_000, maxWriteUnits: 500 },
  'a function without CloudFront': { cloudfront: false, table: 'places', auth: false, readOnly: true },
  'a function behind an HTTP API': { server: 'api', purge: true, ...DOMAIN },
  'containers that consume the stream': { server: 'fargate', consumer: 'server', purge: true, ...DOMAIN },
  containers: { server: 'fargate', ...DOMAIN },
  'containers that consume the stream, without CloudFront': {
    server: 'fargate',
    consumer: 'server',
    cloudfront: false,
    ...DOMAIN,
  },
};
