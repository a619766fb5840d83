// The least that an HTTP proxy in Node does: heads and bodies are passed on, and nothing is looked at.
import { Agent, createServer, request as httpRequest } from 'node:http'
import { pipeline } from 'node:stream'

const agent = new Agent({ keepAlive: true })
const url = process.argv[2]

createServer((request, response) => {
  const upstream = httpRequest(url, { method: request.method, headers: request.headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders)
    pipeline(answer, response, () => {})
  })
  upstream.on('error', () => response.destroy())
  pipeline(request, upstream, () => {})
}).listen(0, '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}/mcp`)
})
