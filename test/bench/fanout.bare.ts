import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** What a fan-out costs at least: a request comes, and everybody who is connected is sent the text that was set before. */
let text = '';
const sockets = new Set<WebSocket>();

const http = createServer((request, response) => {
  if (request.method === 'GET') return void response.end();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'PUT') text = Buffer.concat(chunks).toString();
    else for (const socket of sockets) socket.send(text);
    response.end();
  });
});

new WebSocketServer({ server: http, perMessageDeflate: false }).on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
});
http.listen(Number(process.env.PORT), '127.0.0.1');
