// The third rung (seed 002 §6.2): what the processes of a run write into what another holds is on record, whatever wrote it, and against nobody who cannot be shown to have done it.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { scaled } from '../support/scale.ts'
import type { Json } from '../support/shim-client.ts'
import { until, waitForFile } from '../support/wait.ts'
import { spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`

/** A run that does what it is told, a line at a time, and nothing in between. */
async function obedient(project: Spine, agent: string): Promise<(line: string) => Promise<void>> {
  const orders = join(project.home, `${agent}.orders`)
  const done = join(project.home, `${agent}.done`)
  execFileSync('mkfifo', [orders])
  // Open for both, so that nobody waits for the other to open it, and no order ends with the end of the input.
  const hand = openSync(orders, constants.O_RDWR)
  onTestFinished(() => closeSync(hand))
  const script = `while read -r line <&3; do eval "$line"; echo "$line" > ${done}; done 3< ${orders}`
  await project.json(['run', '--agent', agent, '--detach', '--', 'bash', '-c', script], { env: { PATH } })
  return async (line) => {
    writeSync(hand, `${line}\n`)
    await waitForFile(done, (text) => text === `${line}\n`)
  }
}

/** Until it is on record: what was written before the watcher knew of the claim may have been anybody's. */
async function onRecord(project: Spine, scope: string, write: () => Promise<void>): Promise<Json> {
  return await until(`${scope} on record`, async () => {
    await write()
    const history = ['claim', 'history', '--type', 'INCURSION', '--type', 'STRAY_WRITE']
    const events = (await project.json(history)) as unknown as Json[]
    return events.find((event) => event['scope'] === scope)
  })
}

test('a run that writes what another holds has made an incursion, by what the kernel counts', async () => {
  const project = spine()
  project.write('.gitignore', 'made/\n')
  for (const path of ['src/api.ts', 'src/db.ts']) project.write(path, 'x\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'files')
  const [holder, writer] = await Promise.all([obedient(project, 'amber-otter'), obedient(project, 'brisk-heron')])
  await holder('heimdall claim src --task T-1 >/dev/null')
  let count = 0
  const next = (): string => String((count += 1))
  // No hook and no shim: a variable in the path, which nobody could have read before.
  const incursion = await onRecord(project, 'src/api.ts', () => writer(`f=src/api.ts; echo ${next()} > $f`))
  expect(incursion).toMatchObject({
    event_type: 'INCURSION',
    from_agent: 'brisk-heron',
    to_agent: 'amber-otter',
    payload: { owner_agent: 'amber-otter', incoming_agent: 'brisk-heron', held_scope: 'src' },
  })
  // The holder's own work, what git ignores, and what nobody holds are no news.
  await holder('echo mine > src/db.ts')
  await writer(`mkdir -p src/made docs; echo ${next()} | tee src/made/x.js docs/own.md >/dev/null`)
  const all = (await project.json(['claim', 'history', '--type', 'INCURSION'])) as unknown as Json[]
  expect(Object.fromEntries(all.map(({ scope, from_agent: from }) => [scope, from]))).toEqual({
    'src/api.ts': 'brisk-heron',
  })
})

test('two that are at work at once cannot be told apart, and neither is blamed', async () => {
  const project = spine()
  project.write('src/both.ts', 'x\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'files')
  const [holder, writer] = await Promise.all([obedient(project, 'amber-otter'), obedient(project, 'brisk-heron')])
  await holder('heimdall claim src --task T-1 >/dev/null')
  let count = 0
  const next = (): string => String((count += 1))
  const third = await obedient(project, 'calm-vole')
  await third(`(while sleep 0.05; do echo x; done > ${join(project.home, 'noise')}) &`)
  const stray = await onRecord(project, 'src/both.ts', () => writer(`f=src/both.ts; echo ${next()} > $f`))
  expect(stray).toMatchObject({
    event_type: 'STRAY_WRITE',
    from_agent: null,
    to_agent: 'amber-otter',
    payload: { may_be: 'brisk-heron, calm-vole' },
  })
  // Not even by a write that the watchers hear of while they count.
  for (let turn = 0; turn < scaled(30, 300); turn += 1) await writer(`f=src/both.ts; echo ${next()} > $f`)
  await writer('heimdall claim docs --task T-2 >/dev/null')
  await onRecord(project, 'docs/last.md', () => third(`mkdir -p docs; f=docs/last.md; echo ${next()} > $f`))
  const blamed = (await project.json(['claim', 'history', '--type', 'INCURSION'])) as unknown as Json[]
  expect(blamed.filter(({ scope }) => scope !== 'docs/last.md')).toEqual([])
})
