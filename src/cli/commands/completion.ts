// heimdall completion: a script for bash, zsh or fish.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import type { Run } from '../command.ts'
import { completionScript, isShell, SHELLS } from '../render/completion.ts'
import type { completion } from '../table/core.ts'
import { COMMANDS } from '../table.ts'

export const run: Run<typeof completion> = (_context, { args }) => {
  if (!isShell(args.shell))
    throw new HeimdallError('USAGE', `no completion for ${printable(args.shell)}; known: ${SHELLS.join(', ')}`)
  const script = completionScript(COMMANDS, args.shell)
  return Promise.resolve({ data: { shell: args.shell, script }, text: script })
}
