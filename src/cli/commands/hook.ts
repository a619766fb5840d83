// heimdall hook: the answer to a host's hook. Hosts come in by `entry.ts`, which does without the frame.
import { HeimdallError } from '../../errors.ts'
import { HOOK_HOSTS } from '../../hosts/hooks/hook-table.ts'
import { printable } from '../../ids.ts'
import type { Run } from '../command.ts'
import { hookHost, runHook } from '../quick-hook.ts'
import type { hook } from '../table/hooks.ts'

export const run: Run<typeof hook> = async ({ env, cwd, stdin }, { args, flags }) => {
  const host = hookHost(args.host)
  if (host === undefined)
    throw new HeimdallError('USAGE', `no hooks of ${printable(args.host)} are known`, {
      hint: `known hosts: ${HOOK_HOSTS.join(', ')}`,
    })
  if (stdin.isTTY)
    throw new HeimdallError('USAGE', 'a host calls this and hands over a payload on stdin', {
      hint: 'heimdall init sets it up',
    })
  return { data: null, text: '', streamed: true, exit: await runHook(host, flags.strict === true, env, cwd) }
}
