// Another client, on a thread of its own: reads /healthz every 20 ms, and answers a message with its longest wait in ms.
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const waits = [];

function read() {
  const sent = performance.now();
  get(`${workerData}/healthz`, { agent }, (response) => {
    response.resume().on('end', () => {
      waits.push(performance.now() - sent);
      setTimeout(read, 20);
    });
  }).on('error', (error) => {
    throw error;
  });
}

parentPort.on('message', () => parentPort.postMessage(waits.splice(0)));
read();
