// Builds the context of a command (settings, streams, style) from one command line.
import { isAbsolute, resolve } from 'node:path'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { HeimdallError } from '../errors.ts'
import { escapeControls } from '../ids.ts'
import type { Env } from '../paths.ts'
import type { Context } from './command.ts'
import type { Streams } from './main.ts'
import type { Parsed } from './parse.ts'
import { type Style, styleFor } from './render/style.ts'

interface Call {
  readonly calledAs: string
  readonly isSeedName: boolean
  readonly json: boolean
  readonly globals: Parsed['globals']
  readonly env: Env
  /** Undefined when the working folder no longer exists. */
  readonly cwd: string | undefined
  readonly streams: Streams
  /** Warnings so far, of the call that this one is made from. */
  readonly warnings?: string[]
}

export function contextFor(call: Call): Context {
  const { env, streams, globals } = call
  let style: Style | undefined
  let hasWarned = false
  const warnings = call.warnings ?? []
  const note = (line: string): void => {
    if (line.startsWith('warning: ')) warnings.push(line.slice('warning: '.length))
    streams.stderr.write(`${line}\n`)
  }
  return {
    // As getters: opening stdin alone costs a command that does not read it several milliseconds.
    get stdin() {
      return streams.stdin
    },
    get stdout() {
      return streams.stdout
    },
    get stderr() {
      return streams.stderr
    },
    get cwd() {
      if (call.cwd !== undefined) return call.cwd
      throw new HeimdallError('FOLDER_GONE', 'the working folder no longer exists', {
        hint: 'cd to another folder',
      })
    },
    env,
    clock: systemClock,
    calledAs: call.calledAs,
    isSeedName: call.isSeedName,
    json: call.json,
    configFile: globals.config,
    get style() {
      return (style ??= styleFor(streams.isPiped?.() === true ? {} : streams.stdout, env, globals.color))
    },
    note,
    warnings,
    resolve(path) {
      return isAbsolute(path) ? resolve(path) : resolve(this.cwd, path)
    },
    in: (folder) => contextFor({ ...call, cwd: folder, warnings }),
    async settings(flags) {
      // Loaded here: many commands have no settings.
      const { loadConfig } = await import('../config.ts')
      const config = await loadConfig({ cwd: call.cwd, env, file: globals.config, flags })
      const warning = hasWarned ? undefined : untrusted(config)
      hasWarned ||= warning !== undefined
      if (warning !== undefined) note(`warning: ${warning}`)
      return config
    },
  }
}

/** A warning about settings that an untrusted project file sets, with the command that trusts it. */
function untrusted(config: Config): string | undefined {
  const ignored = Object.entries(config).flatMap(([key, setting]) =>
    setting.ignored === undefined ? [] : [{ key, origin: setting.ignored.origin }],
  )
  const [first] = ignored
  return first === undefined
    ? undefined
    : `${escapeControls(first.origin)} is not trusted, so ${ignored.map(({ key }) => key).join(', ')} in it ${ignored.length === 1 ? 'does' : 'do'} not count; read it, then: heimdall trust`
}
