// heimdall mcp, sub shim|import|restore: MCP servers behind the shim, in the configuration of their hosts. Pins and secrets are in mcp-pins.ts and mcp-secrets.ts.
import { command, spec } from '../command.ts'
import { pinCommands } from './mcp-pins.ts'
import { secretCommands } from './mcp-secrets.ts'

export const shim = spec({
  names: ['heimdall mcp shim', 'sub shim'],
  summary: 'Run an MCP server behind policy: decide, answer or forward each call, and record it',
  about:
    'Sits between an MCP client and a server on stdin and stdout; with --url, between clients on this machine and a ' +
    'remote server over Streamable HTTP. Forwarded bytes are never changed. Without --policy and SUB_POLICY_JSON ' +
    'every call is allowed and recorded. Events go to the record of the run (SUB_RUN_ID, or one run per host ' +
    'session); with --events and no SUB_RUN_ID the shim is a run of its own. A changed policy file is reloaded ' +
    'without a restart; SIGUSR2 reloads it at once. The server does not receive variables that hold policy, secrets ' +
    'or identity.',
  rest: 'CMD [ARG...]',
  flags: {
    'server-name': { value: 'NAME', required: true, help: 'name of the server in policy and events' },
    policy: { value: 'FILE', help: 'policy bundle in YAML or JSON; overrides SUB_POLICY_JSON' },
    events: {
      value: 'stderr|FILE',
      help: 'also write events there; sub shim writes to stderr by default',
    },
    'deny-as': {
      choices: ['error', 'tool_result'],
      default: 'error',
      help: 'answer denied calls with a JSON-RPC error, or with a tool result for hosts that hide errors from the model',
    },
    'pass-env': {
      value: 'NAME,NAME…',
      multiple: true,
      help: 'the server receives only a base set of variables and these; written by heimdall mcp import',
    },
    'secret-bindings': {
      value: 'FILE',
      help: 'secrets that the server receives as variables (docs/secrets.md); overrides SUB_SECRET_BINDINGS_FILE and SUB_SECRET_BINDINGS',
    },
    url: { value: 'URL', help: 'address of a remote server, instead of CMD' },
    listen: {
      value: '[127.0.0.1:]PORT',
      help: 'with --url: listen here for clients on this machine, 0 for any port; prints the address to use',
    },
    header: {
      value: 'NAME: VALUE',
      multiple: true,
      help: 'with --url: a header sent to the server with every request; bind secrets instead',
    },
    verbose: { help: 'print the run and the path of its record to stderr' },
  },
  examples: {
    'heimdall mcp shim --server-name=git --policy team.yaml -- npx -y @modelcontextprotocol/server-git':
      'puts the git server behind the rules of team.yaml',
    'heimdall mcp shim --server-name=git --secret-bindings secrets.json -- mcp-server-git':
      'gives the server its token, which the agent never sees',
    'sub shim --server-name=fs --events=stderr -- mcp-server-filesystem .': 'only records, and writes events to stderr',
    'heimdall mcp shim --server-name=tickets --url https://mcp.example.org/mcp --listen 8123':
      'puts a remote server behind policy, and prints the address for clients',
  },
  output: 'none: stdout is the connection to the client; with --url one line, the address to use',
})

const hostArg = {
  name: 'host',
  help: 'claude, codex, cursor, gemini or vscode',
  variadic: true,
  optional: true,
} as const

const common = {
  'dry-run': { help: 'show the diff, with values of other settings masked, and change nothing' },
  yes: { short: 'y', help: 'skip the confirmation prompt; sub has none' },
} as const

const FILES =
  'files: array of {host, path, level: user | project | named | recorded, changed, diff, servers: array of {name, at, outcome, reason}}'
const FAILED =
  'failed: array of {host, path, code, message, hint} for files that could not be read or written; the first decides the exit code'

export const importSpec = spec({
  names: ['heimdall mcp import', 'sub import'],
  changes: true,
  summary: 'Put the MCP servers of a host behind the shim, in the host’s own configuration',
  about:
    'Without a host: all hosts that have a configuration file here. Each local server is then started by heimdall mcp ' +
    'shim under its own name, with its own arguments and variables. Only these lines change: comments, order and ' +
    'spacing stay. Remote servers are listed and left alone. User files are changed; project files, which others ' +
    'share, only with --shared. heimdall mcp restore gives every byte back. docs/hosts.md lists the files.',
  args: [hostArg],
  flags: {
    shared: { help: 'also project files such as .mcp.json; they then contain paths of this machine' },
    ...common,
    'pass-env': {
      value: 'NAME,NAME…',
      multiple: true,
      help: 'variables of the host’s environment that every server receives besides its own',
    },
  },
  examples: {
    'heimdall mcp import --dry-run': 'shows what would change, for all hosts found here',
    'heimdall mcp import claude codex': 'changes the user files of both',
    'heimdall mcp import cursor --shared --yes': 'also .cursor/mcp.json of this project, without asking',
  },
  output: `${FILES} (outcome: wrapped, renewed, kept or left), ${FAILED}, left: array of {host, path, servers} for project files that were not touched, dry_run`,
})

export const restoreSpec = spec({
  names: ['heimdall mcp restore', 'sub restore'],
  changes: true,
  summary: 'Take the MCP servers of a host out of the shim again',
  about:
    'Undoes heimdall mcp import in every file that it changed, for the named hosts or for all. Later changes to the ' +
    'files stay; a file that was not edited since is byte for byte what it was. Lines written by hand are left alone. ' +
    'Refused inside a session or a host.',
  args: [hostArg],
  flags: {
    shared: { help: 'also files of this project that were imported on another machine' },
    ...common,
  },
  examples: {
    'heimdall mcp restore claude --dry-run': 'shows what would change',
    'heimdall mcp restore claude codex --yes': 'takes both out without asking',
  },
  output: `${FILES} (outcome: restored, changed, gone, left or unlisted; unlisted: names of ours removed from its list of variables), ${FAILED}, gone: paths of imported files that no longer exist, dry_run`,
})

export const commands = [
  command({
    ...importSpec,
    run: async (context, input) => (await import('./mcp-import.ts')).importHosts(context, input),
  }),
  command({
    ...restoreSpec,
    run: async (context, input) => (await import('./mcp-import.ts')).restoreHosts(context, input),
  }),
  command({ ...shim, run: async (context, input) => (await import('./shim.ts')).run(context, input) }),
  ...pinCommands,
  ...secretCommands,
]
