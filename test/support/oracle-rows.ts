// Rows of a table that bash and git judge: each command runs in a fresh copy of one repository, all of them from one shell.
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './programs.ts'

export interface OracleRow {
  readonly cwd: string
  readonly command: string
}

export interface OracleEnding {
  readonly status: number
  readonly stderr: string
}

/** To start a process from the large one of the tests takes longer than most commands: so one shell starts them all. */
const DRIVER =
  'while [ $# -gt 1 ]; do (cd "$1" && exec bash -c "$2" <<<x >/dev/null) 2>"$1.err"; echo $?; shift 2; done'

export async function runRows(
  rows: readonly OracleRow[],
  env: Readonly<Record<string, string>>,
): Promise<OracleEnding[]> {
  const words = rows.flatMap(({ cwd, command }) => [cwd, command])
  const { stdout } = await runProgram(['bash', '-c', DRIVER, 'driver', ...words], { env })
  const statuses = stdout.split('\n')
  return rows.map(({ cwd }, index) => ({
    status: Number(statuses[index]),
    stderr: readFileSync(`${cwd}.err`, 'utf8'),
  }))
}

/** Moves the objects of a repository out of it, so that its copies share them: they are most of its files. */
export function shareObjects(repository: string, to: string): void {
  const objects = join(repository, '.git/objects')
  renameSync(objects, to)
  mkdirSync(join(objects, 'info'), { recursive: true })
  writeFileSync(join(objects, 'info/alternates'), `${to}\n`)
}

export function copyTo(folder: string, template: string): string {
  cpSync(template, folder, { recursive: true })
  return folder
}
