// A remote server for benches: a call is answered with its first event at once and the rest of the stream behind it.
import { createServer } from 'node:http'

const filler = 'abcdefghijklmnopqrstuvwxyz012345'

createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => (text += chunk))
  request.once('end', () => {
    const { id, params } = JSON.parse(text)
    const { events = 0, bytes = 0 } = params.arguments
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    if (events === 0) {
      sendResult(response, id, bytes)
      return
    }
    const data = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { data: filler.repeat(bytes / 32) },
    })
    const event = Buffer.from(`event: message\ndata: ${data}\n\n`)
    let left = events
    const more = () => {
      while (left > 0) {
        left -= 1
        if (!response.write(event)) {
          response.once('drain', more)
          return
        }
      }
      response.end(`event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[]}}\n\n`)
    }
    more()
  })
}).listen(0, '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}/mcp`)
})

/** One answer of this size, in pieces. */
function sendResult(response, id, bytes) {
  const piece = Buffer.alloc(1 << 16, filler)
  let left = bytes
  response.write('event: message\ndata: {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"')
  const more = () => {
    while (left > 0) {
      left -= piece.length
      if (!response.write(piece)) {
        response.once('drain', more)
        return
      }
    }
    response.end(`"}]},"id":${JSON.stringify(id)}}\n\n`)
  }
  more()
}
