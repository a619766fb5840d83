// The folder of sockets that a command line means. Apart from `locate`: a start needs no client.
import { join, resolve } from 'node:path'
import { loadConfig } from '../../../config.ts'
import { homeDir, sessionsDir } from '../../../paths.ts'
import type { Context } from '../../command.ts'

export interface DirFlag {
  readonly 'socket-dir': string | undefined
}

/** `--socket-dir`, the setting `socket_dir`, or the usual place. */
export async function socketDirOf(context: Context, flags: DirFlag): Promise<string> {
  const { cwd, env } = context
  const config = await loadConfig({ cwd, env, file: context.configFile, flags: { socket_dir: flags['socket-dir'] } })
  const { value } = config.socket_dir
  if (typeof value !== 'string') return sessionsDir(env)
  return resolve(cwd, value.startsWith('~/') ? join(homeDir(env), value.slice(2)) : value)
}
