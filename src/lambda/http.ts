/** The AWS Lambda that answers HTTP requests. docs/deploy.md says how to set it up. */
import { readConfig, silenceSdkAdvice } from '../config.js';
import { openHandler } from './http-handler.js';

silenceSdkAdvice();

/**
 * The function that API Gateway or the function's URL calls. It is ready when AWS has loaded this file, for which there is
 * more of a processor than for calls. Everybody can reach it, so the defaults are those of a server that listens for others.
 */
export const handler = await openHandler(readConfig({ own: { HOST: '0.0.0.0', CELLPORT_CONSUMER: 'off' } }));
