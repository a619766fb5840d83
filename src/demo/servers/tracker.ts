// The MCP server that the demo's workers are asked for. Where a file says so it is dead, as servers are without a word.
import { existsSync } from 'node:fs'
import type { Env } from '../../paths.ts'
import { serve } from './mcp-server.ts'

/** Names the file with which a server of the demo is broken. */
export const DOWN_VARIABLE = 'HEIMDALL_DEMO_DOWN'

export function trackerServer(env: Env): void {
  const down = env[DOWN_VARIABLE]
  if (down !== undefined && existsSync(down)) process.exit(1)
  serve('tracker', {
    list_tasks: {
      description: 'Tasks of the wave that is being worked on',
      inputs: {},
      run: () => '3.1 statements\n3.2 exchange\n3.3 closing a day',
    },
  })
}
