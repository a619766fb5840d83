// The least an MCP server on this SDK can be: one tool that answers with a constant.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

serveStdio(() => {
  const server = new McpServer({ name: 'empty', version: '1.0.0' })
  server.registerTool('noop', { description: 'Does nothing.' }, () => ({ content: [{ type: 'text', text: '{}' }] }))
  return server
})
