// The folder of sockets that a command line means. Apart from `locate`: a start needs no client.
import { join } from 'node:path'
import { homeDir, sessionsDir } from '../../../paths.ts'
import { checkSessionDirIfThere } from '../../../session-folder.ts'
import { onDisk } from '../../../storage/faults.ts'
import type { Context } from '../../command.ts'

export interface DirFlag {
  readonly 'socket-dir': string | undefined
}

/** `--socket-dir`, the setting `socket_dir`, or the usual place; refused when others could have written there. */
export async function socketDirOf(context: Context, flags: DirFlag): Promise<string> {
  const dir = await named(context, flags)
  onDisk(dir, () => checkSessionDirIfThere(dir, process.getuid?.() ?? 0))
  return dir
}

async function named(context: Context, flags: DirFlag): Promise<string> {
  const { env } = context
  const { value } = (await context.settings({ socket_dir: flags['socket-dir'] })).socket_dir
  if (typeof value !== 'string') return sessionsDir(env)
  return context.resolve(value.startsWith('~/') ? join(homeDir(env), value.slice(2)) : value)
}
