import { isLoopback } from '../../loopback.js';
import type { Answers } from './questions.js';

/** The texts of the files, by their names: settings, and containers that have these, too. */
export function filesFor({ database, port }: Answers): Readonly<Record<string, string>> {
  const isLocal = database === 'local';
  const isRegion = !isLocal && !URL.canParse(database);
  const url = isRegion ? '' : isLocal ? 'http://127.0.0.1:8000' : database;
  const isHere = !isRegion && isLoopback(new URL(url).hostname);
  const insideUrl = url.replace(/(?<=\/\/)[^:/]+/, isLocal ? 'dynamodb' : 'host.docker.internal');
  const env = `# Settings, see docs/configuration.md of Cellport. Those of the environment have priority.
PORT=${port}
CELLPORT_TABLE=cellport
AWS_REGION=${isRegion ? database : 'us-east-1'}
${isRegion ? '' : `AWS_ENDPOINT_URL_DYNAMODB=${url}\n`}${isHere ? 'AWS_ACCESS_KEY_ID=cellport\nAWS_SECRET_ACCESS_KEY=cellport\n' : ''}`;
  const compose = `# docker compose up, then http://127.0.0.1:${port}
services:
  cellport:
    image: cellport # made in a clone of Cellport by: docker build -t cellport .
    env_file: .env
    environment:
      PORT: 4000
      # Only programs of this machine reach the port below.
      CELLPORT_READ_ONLY: 'off'
      CELLPORT_AUTH: 'off'
${isHere ? `      AWS_ENDPOINT_URL_DYNAMODB: ${insideUrl}\n` : ''}    ports: ['127.0.0.1:${port}:4000']
    extra_hosts: ['host.docker.internal:host-gateway']
${isHere ? '' : "    volumes: ['~/.aws:/home/node/.aws:ro'] # credentials\n"}    stop_grace_period: 20s # to finish requests
    restart: unless-stopped # until the database answers
${isLocal ? ENGINE : ''}`;
  return { 'docker-compose.yml': compose, '.env': env };
}

const ENGINE = `
  dynamodb:
    image: amazon/dynamodb-local:3.3.0
    command: ['-jar', 'DynamoDBLocal.jar', '-sharedDb', '-dbPath', '/data', '-disableTelemetry']
    user: root # the volume is made by root
    volumes: ['dynamodb:/data']
    ports: ['127.0.0.1:8000:8000']

volumes:
  dynamodb:
`;
