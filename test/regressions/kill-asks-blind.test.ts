// A session that could not see its processes when it was told to end asked nobody to, and its child lived on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { HeimdallError } from '../../src/errors.ts'
import { ProcessTree } from '../../src/process-tree.ts'
import { Ending } from '../../src/process-ending.ts'

/** As where `ps` fails. */
class Unseen extends ProcessTree {
  override members(): never {
    throw new HeimdallError('PROCESSES_UNREADABLE', 'the system does not say which processes run')
  }
}

test('whoever can be seen or not, the group is asked to end', async () => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  const tree = new Unseen({ child: undefined, mark: undefined })
  const ending = new Ending({ tree, child: child.pid, wholeTree: true, graceMs: 600_000, clock: systemClock })
  const failures: unknown[] = []
  ending.begin('a test', (error) => failures.push(error))
  expect(await ended).toEqual([null, 'SIGTERM'])
  ending.childEnded()
  expect(failures).toEqual([])
})
