// `--host`: the machine that a command means, as the user's ssh knows it.
import { HeimdallError } from '../../../errors.ts'
import type { SshMachine } from '../../../sessions/elsewhere/session-elsewhere.ts'
import type { Context } from '../../command.ts'
import type { DirFlag } from './socket-dir.ts'

export interface HostFlag {
  readonly host?: string | undefined
}

/** Nothing where it is this one. */
export async function elsewhereOf(context: Context, flags: DirFlag & HostFlag): Promise<SshMachine | undefined> {
  const { host } = flags
  if (host === undefined) return undefined
  if (flags['socket-dir'] !== undefined)
    throw new HeimdallError('USAGE', '--socket-dir is a folder of this machine, --host names another', {
      hint: 'the other machine has a setting socket_dir of its own',
    })
  const { parseSshHost } = await import('../../../sessions/elsewhere/ssh.ts')
  return { host: parseSshHost(host), env: context.env, clock: context.clock }
}
