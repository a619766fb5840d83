// Hooks in bad company: answers that nobody takes, a folder that is gone, a store that is held, names that mean something to JavaScript.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { HOOK_BUSY_MS, HOOK_BYTES_MAX } from '../../src/limits.ts'
import { playHost } from '../support/played-host.ts'
import { runOnDisk } from '../support/full-disk.ts'
import { launcher } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { holdFor } from '../support/held-path.ts'

async function withHolder(): Promise<TemporaryProject> {
  const project = temporaryProject()
  project.write('src/held.ts', 'held\n')
  await holdFor(project, 'amber-otter', 'src/held.ts')
  return project
}

const edit = (project: TemporaryProject, path: string): string =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 'session-1',
    cwd: project.root,
    tool_name: 'Edit',
    tool_input: { file_path: project.path(path) },
    tool_use_id: 'use-1',
  })

/** `heimdall hook claude` as a shell would start it, with `line` around it. */
function shell(project: TemporaryProject, line: string, input: string): { code: number | null; stderr: string } {
  const { status: code, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line, ...launcher('heimdall')], {
    cwd: project.root,
    env: { PATH: process.env['PATH'], ...project.env },
    input,
    encoding: 'utf8',
  })
  return { code, stderr }
}

const HOOK = '"$0" "$@" hook claude'

test('an answer that nobody takes: a no is said by the exit code, and a yes by nothing', async () => {
  const project = await withHolder()
  const held = edit(project, 'src/held.ts')
  for (const line of [`${HOOK} > /dev/full`, `${HOOK} | true`]) {
    const no = shell(project, line, held)
    expect({ line, code: no.code }).toEqual({ line, code: 2 })
    expect(no.stderr).toContain('src/held.ts is held by amber-otter')
    expect(shell(project, line, '{"hook').code).toBe(0)
  }
  // Nor does it matter who reads what is said to people.
  expect(shell(project, `${HOOK} 2> /dev/full`, held).code).toBe(0)
})

test('more than a host may hand over is not kept, and answered with words', async () => {
  const project = temporaryProject()
  const line = `head -c ${HOOK_BYTES_MAX + 1} /dev/zero | ${HOOK}`
  expect(shell(project, `${line} | grep -c 'the payload has more than'`, '').code).toBe(0)
  expect(shell(project, `${line} --strict`, '').code).toBe(2)
})

test('the folder that a host was started in is gone: it says itself where it works', async () => {
  const project = await withHolder()
  const gone = join(project.root, 'gone')
  const line = `cd gone && rmdir ../gone && ${HOOK} | grep -c '"deny"'`
  mkdirSync(gone)
  expect(shell(project, line, edit(project, 'src/held.ts'))).toMatchObject({ code: 0 })
  // Where it does not, nothing is known of where it is.
  mkdirSync(gone)
  const unsaid = edit(project, 'src/held.ts').replace(JSON.stringify(project.root), '""')
  expect(shell(project, `cd gone && rmdir ../gone && ${HOOK} | grep -c 'let through'`, unsaid).code).toBe(0)
  mkdirSync(gone)
  rmdirSync(gone)
})

test('an event or a tool whose name means something to JavaScript is none of ours', async () => {
  const host = playHost(temporaryProject())
  for (const name of ['toString', '__proto__']) {
    expect(await host.hook(name, { tool_name: 'Edit' })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await host.hook('PreToolUse', { tool_name: name, tool_input: {} })).toMatchObject({ code: 0, stdout: '' })
  }
})

/** The store with a write transaction of another connection open. */
function lockedStore(project: TemporaryProject): { free: () => void } {
  const holder = new DatabaseSync(project.path('.git/heimdall/coordination.db'))
  holder.exec('BEGIN IMMEDIATE')
  return { free: () => holder.close() }
}

test('a locked store: what another agent holds is refused by reading, and the rest passes with a warning', async () => {
  const project = await withHolder()
  const { stdout } = await project.run('heimdall', ['init', 'claude', '--yes', '--no-guard', '--dry-run'])
  const waits = [...stdout.matchAll(/"timeout": (\d+)/g)].map(([, seconds]) => Number(seconds) * 1_000)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2 * HOOK_BUSY_MS)
  const host = playHost(project)
  await host.hook('SessionStart')
  const own = project.write('src/own.ts', 'x\n')
  const free = project.write('src/free.ts', 'x\n')
  const asked = (path: string, flags: readonly '--strict'[] = []) =>
    host.hook('PreToolUse', { tool_name: 'Write', tool_input: { file_path: path }, tool_use_id: 'use-1' }, flags)
  expect((await asked(own)).stdout).toBe('')
  const store = lockedStore(project)
  try {
    const held = await asked(project.path('src/held.ts'))
    expect(held.stdout).toContain('"permissionDecision":"deny"')
    expect(held.stdout).toContain('src/held.ts is held by amber-otter')
    expect(held.stderr).toMatch(/^heimdall: this refusal is not recorded: .* is locked by another process$/m)
    // Its own path, for which nothing has to be written.
    expect((await asked(own)).stdout).toBe('')
    expect((await asked(free)).said).toEqual({
      systemMessage: expect.stringMatching(
        /^heimdall: no other agent is known to hold this, and nothing was claimed: .* is locked/,
      ) as string,
    })
    const strict = await asked(free, ['--strict'])
    expect(strict.stdout).toContain('"permissionDecision":"deny"')
    expect(strict.stdout).toContain('is locked by another process')
  } finally {
    store.free()
  }
  expect((await asked(project.path('src/held.ts'))).stderr).not.toContain('not recorded')
})

test('a store on a read-only disk: what another agent holds is refused by reading', async () => {
  const project = await withHolder()
  const hook = (path: string, ...flags: string[]) =>
    runOnDisk('read-only', project.path('.git/heimdall'), ['hook', 'claude', ...flags], {
      cwd: project.root,
      env: project.env,
      stdin: edit(project, path),
    })
  const held = await hook('src/held.ts')
  expect(held.stdout).toContain('src/held.ts is held by amber-otter')
  expect(held.stdout).toContain('"permissionDecision":"deny"')
  expect(held.stderr).toContain('this refusal is not recorded')
  expect((await hook('src/free.ts')).stdout).toContain('nothing was claimed')
  expect((await hook('src/free.ts', '--strict')).stdout).toContain('"permissionDecision":"deny"')
})
