// Commands of policy.
import { type Command, spec } from '../command.ts'

export const shim = spec({
  names: ['heimdall shim', 'sub shim'],
  summary: 'Runs an MCP server behind policy: every tool call is judged, answered or passed on, and recorded',
  about:
    'Stands between an MCP client and a server that speak over stdin and stdout. Bytes that pass are never changed. ' +
    'Without --policy and SUB_POLICY_JSON everything passes and is recorded. Events go to the record of the run ' +
    '(SUB_RUN_ID, or one run per session of the host); with --events and no SUB_RUN_ID the shim is a run of its own. ' +
    'A changed policy file is taken up without a restart; SIGUSR2 makes the shim look at once.',
  rest: 'CMD [ARG...]',
  flags: {
    'server-name': { type: 'string', value: 'NAME', required: true, help: 'name of the server in policy and events' },
    policy: { type: 'string', value: 'FILE', help: 'policy bundle in YAML or JSON; wins over SUB_POLICY_JSON' },
    events: {
      type: 'string',
      value: 'stderr|FILE',
      help: 'write events there as well; sub shim writes to stderr unless told otherwise',
    },
    'deny-as': {
      type: 'string',
      choices: ['error', 'tool_result'],
      default: 'error',
      help: 'answer denied calls with a JSON-RPC error, or with a tool result for hosts that hide errors from the model',
    },
  },
  examples: [
    {
      run: 'heimdall shim --server-name=git --policy team.yaml -- npx -y @modelcontextprotocol/server-git',
      does: 'puts the git server behind the rules of team.yaml',
    },
    {
      run: 'sub shim --server-name=fs --events=stderr -- mcp-server-filesystem .',
      does: 'only watches, and writes events to stderr',
    },
  ],
  errors: ['POLICY_INVALID', 'POLICY_UNREADABLE'],
  output: { none: 'stdout is the connection to the client; nothing else is printed' },
})

export const policyCommands: readonly Command[] = [{ spec: shim, load: () => import('../commands/shim.ts') }]
