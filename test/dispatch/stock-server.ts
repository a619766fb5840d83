// The stock server of the SDK, of 1.0 or of 0.3, with whatever executor a test gives it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AgentCard, AgentCard as Card } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import {
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import { onTestFinished } from 'vitest'
import { agentCard, legacyCard } from '../../src/dispatch/a2a/card.ts'

const FACTS = { name: 'stock', description: 'echoes', version: '1', tags: [], params: {} }

export async function stockServer(
  version: '1.0' | '0.3',
  showsExtension: boolean,
  executor: AgentExecutor,
): Promise<{ readonly url: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const whole = agentCard({ ...FACTS, url })
  const capabilities = {
    ...whole.capabilities,
    extensions: showsExtension ? (whole.capabilities?.extensions ?? []) : [],
    extendedAgentCard: false,
  }
  const card = {
    ...whole,
    capabilities,
    supportedInterfaces: whole.supportedInterfaces.filter(
      ({ protocolVersion, protocolBinding }) => protocolVersion === version && protocolBinding === 'JSONRPC',
    ),
  } as AgentCard
  const old = {
    ...legacyCard({ ...FACTS, url }),
    capabilities: { streaming: true, extensions: [] },
    supportsAuthenticatedExtendedCard: false,
  }
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const transport =
    version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler)
  server.on('request', (request, response) => {
    void (async () => {
      if (request.method === 'GET') return response.end(JSON.stringify(version === '1.0' ? Card.toJSON(card) : old))
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const answer = await transport.handle(
        JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
        new ServerCallContext({ requestedVersion: version }),
      )
      response.setHeader('Content-Type', 'application/json')
      return response.end(JSON.stringify(answer))
    })()
  })
  return { url }
}
