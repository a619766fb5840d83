// The official client and server of MCP, with the proxy between them: nothing in it may be seen, but for what policy refuses.
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../support/http-proxy.ts'
import { bundle, checkBooks, deny, ofType, tool } from '../../support/shim-client.ts'
import { until } from '../../support/wait.ts'

const POLICY = bundle([deny('no-delete', tool('delete_*'), { message: 'nothing is deleted here' })])

interface Far {
  readonly url: string
  /** Sends a message of its own on the standing stream. */
  say(text: string): Promise<void>
  readonly sessions: Map<string, StreamableHTTPServerTransport>
}

async function sdkServer(options: { readonly enableJsonResponse: boolean }): Promise<Far> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const servers: McpServer[] = []
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (chunk: Buffer) => parts.push(chunk))
    request.once('end', () => {
      const body = parts.length === 0 ? undefined : (JSON.parse(Buffer.concat(parts).toString()) as unknown)
      void (async () => {
        const known = sessions.get(String(request.headers['mcp-session-id']))
        await (known ?? (await begin())).handleRequest(request, response, body)
      })()
    })
  })
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      ...options,
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const mcp = new McpServer({ name: 'far', version: '1' }, { capabilities: { logging: {} } })
    mcp.registerTool('greet', { description: 'says hello' }, async (extra) => {
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined)
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      return { content: [{ type: 'text', text: 'grüezi' }] }
    })
    mcp.registerTool('delete_all', { description: 'deletes' }, () => ({ content: [] }))
    servers.push(mcp)
    await mcp.connect(transport)
    return transport
  }
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sessions,
    say: async (text) => {
      for (const mcp of servers) await mcp.server.sendLoggingMessage({ level: 'info', data: text })
    },
  }
}

test.each([{ enableJsonResponse: false }, { enableJsonResponse: true }])(
  'the 1.x client and server, $enableJsonResponse: tools, progress, refusals, messages of the server, the end of a session',
  async (options) => {
    const far = await sdkServer(options)
    const proxy = await startProxy(far.url, { policy: POLICY })
    const client = new Client({ name: 'claude-test', version: '1' })
    const heard: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data))
    const transport = new StreamableHTTPClientTransport(new URL(proxy.address))
    await client.connect(transport)
    expect(far.sessions.has(transport.sessionId ?? '')).toBe(true)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['greet', 'delete_all'])
    const progress: unknown[] = []
    const greeting = await client.callTool({ name: 'greet' }, undefined, {
      onprogress: (one) => void progress.push(one),
    })
    expect(greeting).toMatchObject({ content: [{ type: 'text', text: 'grüezi' }] })
    if (!options.enableJsonResponse) expect(progress).toHaveLength(1)
    await expect(client.callTool({ name: 'delete_all' })).rejects.toMatchObject({
      code: -32_081,
      message: expect.stringContaining('nothing is deleted here'),
      data: { subluminal: { action: 'BLOCK' } },
    })
    // The standing stream is opened behind the client's back; what is said before is said to nobody.
    await until('a message of the server', async () => {
      await far.say('of its own')
      return heard.length > 0
    })
    await transport.terminateSession()
    expect(far.sessions.size).toBe(0)
    await client.close()
    const { events, code } = await proxy.end()
    expect(code).toBe(0)
    expect(ofType(events, 'tool_call_start').map((event) => event['client'] as string)).toEqual(['claude', 'claude'])
    expect(checkBooks(events)).toEqual([])
  },
)

test('the 2.x client, and many clients at once', async () => {
  const far = await sdkServer({ enableJsonResponse: false })
  const proxy = await startProxy(far.url, { policy: POLICY })
  await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const client = new ModernClient({ name: `test-${n}`, version: '1' })
      await client.connect(new ModernTransport(new URL(proxy.address)))
      for (let i = 0; i < 5; i += 1)
        expect(await client.callTool({ name: 'greet' })).toMatchObject({ content: [{ text: 'grüezi' }] })
      await expect(client.callTool({ name: 'delete_all' })).rejects.toMatchObject({ code: -32_081 })
      await client.close()
    }),
  )
  const { events } = await proxy.end()
  expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({ calls_total: 48, calls_blocked: 8 })
  expect(checkBooks(events)).toEqual([])
})
