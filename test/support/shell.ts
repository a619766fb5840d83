// A shell in a session or a terminal that tests type into, line by line.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Hm } from '../hm/hm.ts'
import type { TemporaryProject } from './project.ts'
import { until } from './wait.ts'

const readIfThere = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

export const BIN = resolve(import.meta.dirname, '../../bin')

export interface Who {
  readonly haid: string
  readonly proof: string
  readonly session: string | null
  readonly holds: readonly { readonly claimed_surfaces: readonly string[] }[]
}

/** A shell that does what is typed, and leaves the output and the exit code of each line in a file. */
export class Shell {
  readonly #project: TemporaryProject
  readonly #type: (line: string) => void
  readonly #name: string
  #lines = 0

  constructor(project: TemporaryProject, name: string, type: (line: string) => void) {
    this.#project = project
    this.#type = type
    this.#name = name
  }

  async run(line: string): Promise<{ text: string; code: number }> {
    const file = this.#project.path(`../${this.#name}-${(this.#lines += 1)}`)
    this.#type(`{ ${line}; } >${file}.out 2>&1; echo "code $?" >${file}.code`)
    const code = await until(`${line} to end`, () => /code (\d+)\n/.exec(readIfThere(`${file}.code`)) ?? undefined)
    return { text: readIfThere(`${file}.out`), code: Number(code[1]) }
  }

  async whoami(): Promise<Who> {
    const { text } = await this.run('heimdall whoami --json')
    return (JSON.parse(text) as { data: Who }).data
  }
}

/** A session in the project with a shell in it that finds our programs; `startedWith` is in the environment of its start. */
export async function shellIn(
  sessions: Hm,
  project: TemporaryProject,
  id: string,
  startedWith: Readonly<Record<string, string>> = {},
  command: readonly string[] = ['/bin/sh'],
): Promise<Shell> {
  const words = ['run', '--id', id, '--detach', '--workdir', project.root, '--', ...command]
  const { code, stderr } = await sessions.run(words, { env: startedWith })
  if (code !== 0) throw new Error(`hm run ended with ${code}: ${stderr}`)
  const shell = new Shell(project, id, (line) => void sessions.run(['send', id, line, '--enter']))
  const env = { ...project.env, PATH: `${BIN}:${process.env['PATH'] ?? ''}` }
  await shell.run(
    `export ${Object.entries(env)
      .map(([name, value]) => `${name}='${value}'`)
      .join(' ')}`,
  )
  return shell
}
