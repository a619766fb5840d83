// mcp-proxy of npm, as a library between two stdio connections.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { proxyServer } from 'mcp-proxy'

const [command, ...args] = process.argv.slice(2)
const client = new Client({ name: 'proxy', version: '1' })
await client.connect(new StdioClientTransport({ command, args }))
const serverCapabilities = client.getServerCapabilities() ?? {}
const server = new Server({ name: 'proxy', version: '1' }, { capabilities: serverCapabilities })
await proxyServer({ client, server, serverCapabilities })
await server.connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))
