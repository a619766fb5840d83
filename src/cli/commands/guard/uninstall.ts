// `heimdall guard uninstall`.
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { guardUninstall } from '../../table/guard.ts'
import { type RemovedHook, uninstallHooks } from './git-hooks.ts'

const SAID: Readonly<Record<RemovedHook['outcome'], string>> = {
  removed: 'removed',
  restored: 'the hook that was there before is back',
  absent: 'was not there',
  foreign: 'is not ours any more and was left alone',
}

export const run: Run<typeof guardUninstall> = async ({ cwd, env }) => {
  refuseAgent('taking the guard out')
  const hooks = uninstallHooks({ cwd, env })
  const text = hooks.map(({ hook, outcome }) => `${hook}: ${SAID[outcome]}`).join('\n')
  return await Promise.resolve({ data: { hooks }, text })
}
