// A planning folder of its own, as the seed's suite uses one, with the real launchers run against it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { launcher } from '../support/programs.ts'

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Island {
  /** The project folder; `.planning` lies in it. */
  readonly root: string
  /** `heimdall-resolve`, then its words. */
  run(
    bin: string,
    args?: readonly string[],
    options?: { readonly stdin?: string | Uint8Array; readonly env?: Readonly<Record<string, string>> },
  ): Outcome
  path(file: string): string
  /** A file below `.planning`. */
  read(file: string): string
  write(file: string, text: string | Uint8Array): string
  has(file: string): boolean
  json(file: string): Record<string, unknown>
  remove(): void
}

export function makeIsland(): Island {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hm-')))
  const path = (file: string): string => join(root, '.planning', file)
  return {
    root,
    path,
    run(bin, args = [], { stdin = '', env = {} } = {}) {
      const [node, script] = launcher(bin)
      const { status, stdout, stderr } = spawnSync(node, [script, ...args], {
        cwd: root,
        env: { PATH: process.env['PATH'], HEIMDALL_PLANNING_DIR: join(root, '.planning'), ...env },
        input: stdin,
        encoding: 'utf8',
        maxBuffer: 64 << 20,
      })
      return { code: status, stdout, stderr }
    },
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
