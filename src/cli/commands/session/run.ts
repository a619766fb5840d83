// hm run: start a session; then attach to it, return, or wait for its end.
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { HeimdallError } from '../../../errors.ts'
import { listSessions } from '../../../sessions/session-files.ts'
import { redactedWords } from '../../../runs/redacted.ts'
import { resolveOptions, type SessionOptions } from '../../../wire/session-options.ts'
import { handOver, startSession } from '../../../sessions/start.ts'
import type { StartedSession } from '../../../wire/handover.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import { outputPath } from '../../output-file.ts'
import { takeEarly } from '../../early-session.ts'
import { sessionEnvironment } from '../../session-environment.ts'
import type { run as row } from '../../table/session.ts'
import { checkStart, colored, isDrawn, showStarted, waitForExit } from './show-start.ts'
import { startOptions } from './start-options.ts'

export const run: Run<typeof row> = async (context, input) => {
  const { flags, rest } = input
  checkStart(flags, rest, 'hm run --id build -- make')
  const options = await optionsFrom(context, input)
  const started = await (isDrawn(context, flags) ? startShown : start)(context, options, flags.id !== undefined)
  if (flags.detach !== true) return await showStarted(context, started, options.socketDir, flags)
  const exitCode = flags.wait === true ? await waitForExit(options.socketDir, started) : null
  return {
    data: { ...started, exit_code: exitCode },
    text: exitCode === null ? `Session ${started.id} runs as process ${started.pid}` : '',
    ...(exitCode === null ? {} : { exit: exitCode }),
  }
}

/** A session that is about to be drawn here: its program is told what this terminal looks like, also when it asks at once. */
function startShown(context: Context, options: SessionOptions, isNamed: boolean): Promise<StartedSession> {
  return colored(context, (colors) => start(context, { ...options, colors }, isNamed))
}

/** A name that was free when it was chosen may be taken by the time it is used: then the next one, unless it was asked for. */
async function start(context: Context, options: SessionOptions, isNamed: boolean): Promise<StartedSession> {
  const refused = new Set<string>()
  for (let { id } = options; ; id = freeId(options.socketDir, options.command[0] ?? '', refused))
    try {
      const launched = takeEarly(id)
      if (launched !== undefined) return await handOver({ ...options, id }, launched, context)
      const env = await sessionEnvironment(context.env)
      return await startSession({ ...options, id }, { launcher: launcherPath(), env })
    } catch (error) {
      if (isNamed || !(error instanceof HeimdallError) || error.code !== 'SESSION_ID_IN_USE') throw error
      refused.add(id)
    }
}

function launcherPath(): string {
  const root = dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json'))
  return join(root, 'dist/session.cjs')
}

async function optionsFrom(context: Context, { flags, rest }: InputOf<typeof row>): Promise<SessionOptions> {
  const { socketDir, ...options } = await startOptions(context, flags, rest)
  return resolveOptions({
    ...options,
    shownCommand: redactedWords(rest),
    socketDir,
    id: flags.id ?? freeId(socketDir, rest[0] ?? ''),
    recordPath: flags.record === undefined ? null : outputPath(context.resolve(flags.record)),
  })
}

/** `make`, or `make-2` when `make` is taken. */
function freeId(socketDir: string, command: string, refused: ReadonlySet<string> = new Set()): string {
  const name = basename(command)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 48)
  const stem = name === '' ? 'session' : name
  const taken = new Set(
    listSessions(socketDir)
      .filter(({ state }) => state !== 'ended')
      .map(({ id }) => id),
  )
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? stem : `${stem}-${n}`
    if (!taken.has(id) && !refused.has(id)) return id
  }
}
