// What of the shim's environment its server gets: nothing that governs it or says who the agent is, and where the command line was written by `import`, a base set and what it names.
import { realpathSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { isErrno } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { SHIM_MARK } from './guardian.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Policy, secrets and identity: with these a server could find out what binds it, or act as the agent. */
const KEPT_BACK =
  /^(SUB_(POLICY_.*|SECRET_.*|SECRETS_PATH|RUN_ID|AGENT_ID|ENV|CLIENT|PRINCIPAL|WORKLOAD)|HEIMDALL_(SECRET|HAID|AGENT_ID|SESSION_ID|ROLE|RUN_DIR)|BB_AGENT)$/

/**
 * Where things are, how text is written, and the way out: what a program needs anywhere, and what holds no credential.
 * The three of ours lead a git hook below the server to the right store, and to the session that it runs in.
 */
const BASE: ReadonlySet<string> = new Set(
  [
    'PATH HOME USER LOGNAME SHELL PWD TMPDIR TZ TERM COLORTERM LANG LANGUAGE __CF_USER_TEXT_ENCODING',
    'DISPLAY WAYLAND_DISPLAY XAUTHORITY',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy',
    'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE',
    // Promised to servers by Claude Code.
    'CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ID',
    'HEIMDALL_SESSION_KEY HEIMDALL_PLANNING_DIR HEIMDALL_PROCESSES',
  ].flatMap((names) => names.split(' ')),
)
const BASE_PREFIX = /^(LC|XDG)_/

export interface UpstreamEnv {
  readonly env: Env
  readonly command: readonly string[]
  readonly mark: string
  /** Names of variables that go along with the base set; nothing where all that is not ours goes. */
  readonly passEnv: readonly string[] | undefined
  /** What is bound to the server, and the variables that such values come from. */
  readonly secrets: Pick<Secrets, 'values' | 'heldIn'> | null
  /** Path of our own ledger server, which acts as the agent and is given what proves it. */
  readonly ledgerServer: string | undefined
}

export function upstreamEnv({ env, command, mark, passEnv, secrets, ledgerServer }: UpstreamEnv): NodeJS.ProcessEnv {
  const isOurs = ledgerServer !== undefined && isProgram(command, ledgerServer, env)
  const passes = (name: string): boolean =>
    isOurs ||
    (!KEPT_BACK.test(name) &&
      (BASE.has(name) ||
        BASE_PREFIX.test(name) ||
        (passEnv === undefined ? secrets?.heldIn.has(name) !== true : passEnv.includes(name))))
  const passed = Object.entries(env).filter(([name]) => passes(name))
  return { ...Object.fromEntries(passed), ...secrets?.values, [SHIM_MARK]: mark }
}

/** True for the program itself, and for it behind the Node.js that runs us; any other word in between could be code. */
function isProgram(command: readonly string[], path: string, env: Env): boolean {
  const [first = '', second = ''] = command
  if (basename(first) === basename(path)) return isSameFile(found(first, env), path)
  return (
    basename(second) === basename(path) && isSameFile(found(first, env), process.execPath) && isSameFile(second, path)
  )
}

/** As a shell finds it; a word with a slash is a path. */
function found(word: string, env: Env): string {
  if (word.includes('/')) return word
  const places = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, word))
  return places.find((place) => realPathOf(place) !== undefined) ?? word
}

function isSameFile(one: string, other: string): boolean {
  const real = realPathOf(one)
  return real !== undefined && real === realPathOf(other)
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return undefined
    throw error
  }
}
