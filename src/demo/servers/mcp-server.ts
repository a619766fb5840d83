// The least MCP server over stdio: lists its tools and runs them.
import { createInterface } from 'node:readline'

type Fields = Readonly<Record<string, unknown>>

interface Tool {
  readonly description: string
  readonly inputs: Readonly<Record<string, string>>
  readonly run: (args: Fields) => string
}

export function serve(name: string, tools: Readonly<Record<string, Tool>>): void {
  const send = (message: Fields): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as { id?: unknown; method?: string; params?: Fields }
    if (id === undefined) return
    if (method === 'initialize')
      send({
        id,
        result: {
          protocolVersion: params?.['protocolVersion'],
          capabilities: { tools: {} },
          serverInfo: { name, version: '1' },
        },
      })
    else if (method === 'ping') send({ id, result: {} })
    else if (method === 'tools/list') send({ id, result: { tools: Object.entries(tools).map(listed) } })
    else if (method === 'tools/call') send({ id, ...called(tools, params ?? {}) })
    else send({ id, error: { code: -32_601, message: `no method ${method ?? ''}` } })
  })
}

function listed([name, { description, inputs }]: [string, Tool]): Fields {
  const properties = Object.fromEntries(Object.entries(inputs).map(([key, type]) => [key, { type }]))
  return { name, description, inputSchema: { type: 'object', properties, required: Object.keys(inputs) } }
}

function called(tools: Readonly<Record<string, Tool>>, { name, arguments: args }: Fields): Fields {
  const tool = Object.hasOwn(tools, String(name)) ? tools[String(name)] : undefined
  if (tool === undefined) return { error: { code: -32_602, message: `no tool ${String(name)}` } }
  return { result: { content: [{ type: 'text', text: tool.run((args ?? {}) as Fields) }] } }
}
