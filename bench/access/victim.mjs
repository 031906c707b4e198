// Another client, on a thread of its own: asks for a map every 25 ms, and answers a message with how long it waited in ms.
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, headers, body } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const waits = [];

function ask() {
  const began = performance.now();
  const sent = request(url, { method: 'POST', agent, headers }, (response) => {
    if (response.statusCode !== 200) throw new Error(`a client with a budget of its own got ${response.statusCode}`);
    response.resume().on('end', () => {
      waits.push(performance.now() - began);
      setTimeout(ask, 25);
    });
  });
  sent.on('error', (error) => {
    throw error;
  });
  sent.end(body);
}

parentPort.on('message', () => parentPort.postMessage(waits.splice(0)));
ask();
