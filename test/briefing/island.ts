// A planning folder of its own, as the seed's suite uses one, and launchers run against it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { launcher, type ProgramOptions, runProgram } from '../support/programs.ts'

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Options = Pick<ProgramOptions, 'stdin' | 'env'>

export interface Island {
  /** The project folder; `.planning` lies in it. */
  readonly root: string
  /** `heimdall-resolve`, then its words. */
  run(bin: string, args?: readonly string[], options?: Options): Promise<Outcome>
  /** The same in a process of its own. */
  spawn(bin: string, args?: readonly string[], options?: Options): Promise<Outcome>
  path(file: string): string
  /** A file below `.planning`. */
  read(file: string): string
  write(file: string, text: string | Uint8Array): string
  has(file: string): boolean
  json(file: string): Record<string, unknown>
  remove(): void
}

const outcomeOf = ({ code, stdout, stderr }: Outcome): Outcome => ({ code, stdout, stderr })

export function makeIsland(): Island {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hm-')))
  const path = (file: string): string => join(root, '.planning', file)
  const given = ({ stdin = '', env = {} }: Options): ProgramOptions => ({
    cwd: root,
    env: { HEIMDALL_PLANNING_DIR: join(root, '.planning'), ...env },
    stdin,
  })
  return {
    root,
    path,
    run: async (bin, args = [], options = {}) => outcomeOf(await runLauncher(bin, args, given(options))),
    spawn: async (bin, args = [], options = {}) =>
      outcomeOf(await runProgram([...launcher(bin), ...args], given(options))),
    read: (file) => readFileSync(path(file), 'utf8'),
    write(file, text) {
      mkdirSync(dirname(path(file)), { recursive: true })
      writeFileSync(path(file), text)
      return path(file)
    },
    has: (file) => existsSync(path(file)),
    json: (file) => JSON.parse(readFileSync(path(file), 'utf8')) as Record<string, unknown>,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The same for one test; it is gone when the test ends. */
export function temporaryIsland(): Island {
  const island = makeIsland()
  onTestFinished(() => island.remove())
  return island
}
