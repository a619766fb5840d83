// Machines of a fleet from outside: each with its own home, state, clone and store, and commands as people type them.
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Ending, launcher, type Program, runProgram, startProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'

export interface Said {
  readonly ok: boolean
  readonly data: Record<string, unknown>
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | null
}

const said = ({ stdout, stderr }: Ending): Said => {
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Said
}

/** A machine with a clone of its own. */
export function machine(name: string) {
  const project = temporaryProject({ startedAt: '2026-01-01T00:00:00Z' })
  const env = { USER: name }
  const by =
    (bin: string) =>
    async (args: string, stdin?: string): Promise<Said> =>
      said(await project.run(bin, [...args.split(' '), '--json'], { env, stdin: stdin ?? '' }))
  const [heimdall, bb] = [by('heimdall'), by('bb')]
  /** In a process of its own: one that has used a store keeps it open until its statements are collected. */
  const spawned = async (args: string, stdin = ''): Promise<Said> =>
    said(
      await runProgram([...launcher('heimdall'), ...args.split(' '), '--json'], {
        cwd: project.root,
        env: { ...project.env, ...env },
        stdin,
      }),
    )
  return { name, project, heimdall, bb, spawned, store: join(project.root, '.git/heimdall/coordination.db') }
}

export type Machine = ReturnType<typeof machine>

export async function fleetAt(ownerUrl: string, ...names: [string, ...string[]]): Promise<Machine[]> {
  const [first, ...others] = names.map(machine) as [Machine, ...Machine[]]
  const made = await first.heimdall(`fleet create --machine ${names[0]}`, ownerUrl)
  expect(made).toMatchObject({ ok: true, data: { machine: names[0] } })
  for (const [i, other] of others.entries())
    expect(await other.heimdall(`fleet join --machine ${names[i + 1]}`, String(made.data['join']))).toMatchObject({
      ok: true,
      data: { machine: names[i + 1] },
    })
  return [first, ...others]
}

/** Resolves when the worker takes tasks. */
export async function workerOn(machine: Machine, script: string, flags: readonly string[] = []): Promise<Program> {
  const worker = startWorkerOn(machine, script, flags)
  await until('the worker to take tasks', () => worker.stderr().includes('takes tasks'), {
    context: () => worker.stderr(),
  })
  return worker
}

export function startWorkerOn({ name, project }: Machine, script: string, flags: readonly string[] = []): Program {
  const path = project.write('../work.sh', `#!/bin/sh\n${script}\n`)
  return startProgram([...launcher('heimdall'), 'worker', 'start', '--no-worktree', ...flags, '--', 'sh', path], {
    cwd: project.root,
    env: { ...project.env, USER: name },
  })
}
