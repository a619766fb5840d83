// `heimdall guard install`.
import { escapeControls } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { guardInstall } from '../../table/guard.ts'
import { installHooks, ownCommand } from './git-hooks.ts'

export const run: Run<typeof guardInstall> = async ({ cwd, env }) => {
  const hooks = installHooks({ cwd, env }, ownCommand(process.execPath, process.argv[1] ?? ''))
  const lines = hooks.map(({ hook, path, chained }) =>
    escapeControls(`${hook}: ${path}${chained === null ? '' : ', after the hook that was there before'}`),
  )
  return await Promise.resolve({ data: { hooks }, text: lines.join('\n') })
}
