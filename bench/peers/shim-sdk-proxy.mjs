// A proxy of the official SDK's server and client, as most gateways are built.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [command, ...args] = process.argv.slice(2)
const client = new Client({ name: 'proxy', version: '1' })
await client.connect(new StdioClientTransport({ command, args }))
const server = new Server({ name: 'proxy', version: '1' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, (request) => client.listTools(request.params))
server.setRequestHandler(CallToolRequestSchema, (request) => client.callTool(request.params))
await server.connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))
