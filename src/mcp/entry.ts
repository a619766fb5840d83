// The program behind `heimdall-ledger-mcp`: stdio in, stdio out, one project.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { systemClock } from '../clock.ts'
import type { SessionWatch } from '../coordination/watch/session-watch.ts'
import { EXIT, isErrno } from '../errors.ts'
import { WATCH_SESSION_MS } from '../limits.ts'
import { readProcessesFrom } from '../processes.ts'
import type { Desk } from './desk.ts'
import { createLedgerServer } from './server.ts'
import { LedgerTransport } from './transport.ts'

const HELP = `heimdall-ledger-mcp: the coordination ledger of a repository as an MCP server on stdio

usage: heimdall-ledger-mcp [--project DIR]

  --project DIR   the project to serve; by default the one that the working folder is in

Register it with a host: { "mcpServers": { "heimdall-ledger": { "command": "heimdall-ledger-mcp" } } }
`

export function start(): void {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) return
  const note = (line: string): void => void process.stderr.write(`heimdall-ledger-mcp: ${line}\n`)
  let desk: Promise<Desk> | undefined
  const openDesk = async (): Promise<Desk> => {
    const processes = process.env['HEIMDALL_PROCESSES']
    if (processes !== undefined) readProcessesFrom(processes)
    const { Desk } = await import('./desk.ts')
    return new Desk({ cwd: options.cwd, env: process.env, clock: systemClock, pid: process.pid, note })
  }
  const watch = watchLater(options.cwd, note)
  const transport = new LedgerTransport(process.stdin, process.stdout)
  const handle = serveStdio(() => createLedgerServer(() => (desk ??= openDesk())), {
    transport,
    onerror: (error) => note(error.message),
  })
  const stop = (): void =>
    void handle
      .close()
      .then(() => watch.stop())
      .then(() => desk)
      .then((opened) => opened?.close())
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // The client has closed its end, and everything that it asked is answered.
  process.once('beforeExit', () => void watch.stop().then(() => desk?.then((opened) => opened.close())))
}

/**
 * A host keeps its servers for as long as its session lasts, so this is the process that notices what the session
 * writes unasked. Loaded when the handshake is long over: a host starts every server it knows at once.
 */
function watchLater(cwd: string, note: (line: string) => void): { stop(): Promise<void> } {
  let watch: Promise<SessionWatch> | undefined
  const timer = systemClock.after(
    WATCH_SESSION_MS,
    () => {
      watch = Promise.all([import('../coordination/watch/session-watch.ts'), import('../fleet/door.ts')]).then(
        ([{ SessionWatch }, { fleetDoor }]) =>
          new SessionWatch({ cwd, env: process.env, clock: systemClock, fleet: fleetDoor, note }),
      )
    },
    { background: true },
  )
  return {
    async stop() {
      timer.cancel()
      await (await watch)?.stop()
    },
  }
}

function readOptions(words: readonly string[]): { cwd: string } | undefined {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { project: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      process.stdout.write(HELP)
      return undefined
    }
    return { cwd: resolve(values.project ?? '.') }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      process.stderr.write('error: the working folder no longer exists\nhint: name the project: --project DIR\n')
      process.exitCode = EXIT.notFound
      return undefined
    }
    if (
      !isErrno(
        error,
        'ERR_PARSE_ARGS_UNKNOWN_OPTION',
        'ERR_PARSE_ARGS_INVALID_OPTION_VALUE',
        'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL',
      )
    )
      throw error
    process.stderr.write(`error: ${error.message}\n\n${HELP}`)
    process.exitCode = EXIT.usage
    return undefined
  }
}
