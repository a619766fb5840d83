// `heimdall guard install`.
import type { Run } from '../../command.ts'
import type { guardInstall } from '../../table/guard.ts'
import { installHooks, ownCommand } from './git-hooks.ts'

export const run: Run<typeof guardInstall> = async ({ cwd, env }) => {
  const hooks = installHooks({ cwd, env }, ownCommand(process.execPath, process.argv[1] ?? ''))
  const lines = hooks.map(({ hook, path, chained }) =>
    chained === null ? `${hook}: ${path}` : `${hook}: ${path}, after the hook that was there before`,
  )
  return await Promise.resolve({ data: { hooks }, text: lines.join('\n') })
}
