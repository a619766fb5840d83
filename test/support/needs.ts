// Programs and rights that some machines lack: a test that needs one says so, and is skipped with the reason where it is missing.
import { spawnSync } from 'node:child_process'
import { getCurrentTest } from 'vitest/suite'

const runs = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0

const HAS = {
  tmux: () => runs('tmux', '-V'),
  python3: () => runs('python3', '-c', ''),
  'prompt_toolkit for python3': () => runs('python3', '-c', 'import prompt_toolkit'),
  'jsonschema for python3': () => runs('python3', '-c', 'import jsonschema'),
  // A new mount namespace takes root or a user namespace, and a mount in it may still be refused.
  'right to mount': () => runs('unshare', '--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs none /mnt'),
  root: () => process.getuid?.() === 0,
} as const

type Need = keyof typeof HAS

/** Continuous integration has all of them, so that no test is left out for good. */
const IN_CI: ReadonlySet<Need> = new Set(['tmux', 'python3'])

const known = new Map<Need, boolean>()

const has = (need: Need): boolean => {
  const answer = known.get(need) ?? HAS[need]()
  known.set(need, answer)
  return answer
}

/** Called by a test or by what it uses: skips the test, with the reason, where something is missing. */
export function needs(...all: readonly Need[]): void {
  const missing = all.filter((need) => !has(need))
  if (missing.length === 0) return
  const reason = `no ${missing.join(', no ')}`
  if (process.env['CI'] === 'true' && missing.some((need) => IN_CI.has(need)))
    throw new Error(`${reason}: CI must have it`)
  getCurrentTest()?.context.skip(reason)
}
