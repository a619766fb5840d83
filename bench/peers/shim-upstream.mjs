// The server of the shim's bench: answers calls as fast as Node can, by hand, so that it is not what is measured.
const OK =
  '"result":{"content":[{"type":"text","text":"the tool has done what it was asked to do, and says so here"}]}}\n'
const TOOL = { name: 'write_file', description: 'writes', inputSchema: { type: 'object' } }

function answer(line) {
  const id = /"id":("[^"]*"|\d+)/.exec(line)?.[1]
  if (id === undefined) return ''
  if (line.includes('"tools/call"')) {
    const bytes = /"bytes":(\d+)/.exec(line)?.[1]
    if (bytes !== undefined) {
      sendBig(id, Number(bytes))
      return ''
    }
    return `{"jsonrpc":"2.0","id":${id},${OK}`
  }
  if (line.includes('"initialize"'))
    return `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}\n`
  if (line.includes('"tools/list"'))
    return `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${JSON.stringify(TOOL)}]}}\n`
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown method"}}\n`
}

function sendBig(id, bytes) {
  const piece = Buffer.alloc(1 << 18, 'abcdefghijklmnopqrstuvwxyz012345')
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
  let left = bytes
  const more = () => {
    while (left > 0) {
      const next = piece.subarray(0, Math.min(left, piece.length))
      left -= next.length
      if (!process.stdout.write(next)) {
        process.stdout.once('drain', more)
        return
      }
    }
    process.stdout.write('"}]}}\n')
  }
  more()
}

let carry = ''
let skipping = 0
process.stdin.on('data', (chunk) => {
  // A large request is only counted; its end is answered.
  if (skipping > 0 || (carry.length > 65_536 && chunk.indexOf(10) === -1)) {
    const end = chunk.indexOf(10)
    if (end === -1) {
      skipping += chunk.length
      return
    }
    process.stdout.write(answer(`"tools/call"${carry.slice(0, 300).replace(/"bytes"/g, '')}`))
    carry = chunk.toString('latin1', end + 1)
    skipping = 0
    return
  }
  const lines = (carry + chunk.toString('latin1')).split('\n')
  carry = lines.pop() ?? ''
  let out = ''
  for (const line of lines) out += answer(line)
  if (out !== '') process.stdout.write(out)
})
