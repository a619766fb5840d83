// Who has written since a moment, by the kernel's count: a tree in which nothing happens is not walked again and again, and none is cleared by that.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Sample, TreeWrites } from '../../src/coordination/watch/tree-writes.ts'
import { processRef, type ProcessRef } from '../../src/coordination/who/process-ref.ts'
import { WATCH_MARK_MS } from '../../src/limits.ts'
import { lookAtProcesses } from '../../src/processes.ts'
import { type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

/** Runs each line that it is sent; nothing of its beginning is left to be counted. */
async function obedient(): Promise<{ program: Program; ref: ProcessRef }> {
  const program = startProgram(['bash', '-c', 'echo ready; while read -r line; do eval "$line"; done'])
  await program.waitForLine('ready')
  const ref = processRef(program.pid)
  if (ref === undefined) throw new Error(`process ${program.pid} has ended`)
  // The kernel tells of a write before it counts it.
  await until('the first word to be counted', () => (lookAtProcesses().bytesWritten(program.pid) ?? 0) > 0)
  return { program, ref }
}

async function two() {
  const [own, other] = await Promise.all([obedient(), obedient()])
  const writes = new TreeWrites()
  return {
    own,
    other,
    sample: (monoMs: number) => writes.sample(own.ref, new Set([other.ref]), { wallMs: monoMs, monoMs }),
    hasWritten: (since: Sample) => writes.hasWritten(other.ref, since, 'nobody'),
  }
}

const isCounted = existsSync('/proc/self/io')

test.runIf(isCounted)('a tree is counted without a walk through it for as long as nobody in it writes', async () => {
  const { own, other, sample, hasWritten } = await two()
  const first = sample(0)
  const second = sample(WATCH_MARK_MS / 2)
  expect(second.counts.get(other.ref)).toBe(first.counts.get(other.ref))
  // The agent's own is looked at each time, and the others' when that was long ago.
  expect(second.counts.get(own.ref)).not.toBe(first.counts.get(own.ref))
  const third = sample(WATCH_MARK_MS)
  expect(third.counts.get(other.ref)).not.toBe(first.counts.get(other.ref))
  expect(hasWritten(third)).toBe(false)
  other.program.send('echo something')
  await until('the write to be counted', () => hasWritten(third) === true)
  const fourth = sample(WATCH_MARK_MS + 1)
  expect(hasWritten(fourth)).toBe(false)
})

test.runIf(isCounted)('one that came to a quiet tree makes it one that may have written', async () => {
  const { other, sample, hasWritten } = await two()
  sample(0)
  const file = join(temporaryFolder(), 'written')
  // The new one writes; the one that is known does not.
  other.program.send(`(echo x > ${file}; exec sleep 1000) &`)
  await until('the file', () => existsSync(file))
  const since = sample(1)
  await until('the write to be counted', () => hasWritten(since) === true)
})
